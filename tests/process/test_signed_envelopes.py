"""With keys, every producer's envelopes pass, those of others are set aside, and replays are signed."""

import base64
from typing import Final

import pytest

from abacus.core.signature import Producer
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.ledger.ledgers import award, envelope
from tests.support.commands import abacus
from tests.support.house import House, completed, until
from tests.support.shop import MEAL, register, shop
from tests.support.shop import award as request_award

KEYS: Final = ",".join(f"{each}.1={base64.b64encode(each.encode().ljust(32, b'.')).decode()}" for each in Producer)


@pytest.mark.long
async def test_only_those_who_have_a_key_make_points(house: House) -> None:
    signing = house.settings.model_copy(update={"envelope_keys": KEYS})
    key = await register(house)
    async with (
        house.running("calculator", "retrier", settings=signing),
        shop(house, "awarder", settings=signing) as opened,
        sqs_client(house.settings.sqs_endpoint_url) as client,
    ):
        acme = await opened.caller(key)
        refund = completed(1, type="transaction.refunded", refund_id="R-1")  # by way of the retry queue
        await house.produce([refund, completed(1), completed(2, vertical="yachts")])
        assert (await request_award(acme, "a")).status_code == 202
        assert (await request_award(acme, "b", {"member_id": "bob", "transaction": MEAL})).status_code == 202
        for name in ("award", "retry"):
            queue = await SqsQueue.find(client, house.settings.queue_prefix + name)
            await queue.send(
                [envelope(award(key="txn:meals:VICTIM-1")).replace("awards", {"award": "awards"}.get(name, "retries"))]
            )

        async def settled() -> bool:
            return await house.transfers() == 4 and await house.reasons() == {"unvouched": 2, "unknown-vertical": 1}

        await until(settled)
        env = house.environment() | {"ABACUS_ENVELOPE_KEYS": KEYS}
        replayed = await abacus("quarantine", "replay", "--all", env=env)
        assert (replayed.code, "3 items" in replayed.out) == (0, True)

        async def back() -> bool:
            rows = await house.pool.fetch("select replays from quarantine where status = 'held'")
            return [row["replays"] for row in rows] == [1, 1, 1] and sum((await house.reasons()).values()) == 3

        await until(back)
        assert await house.reasons() == {"unvouched": 2, "unknown-vertical": 1}
    keys = [row["key"] for row in await house.pool.fetch("select key from transfer order by key")]
    assert keys == ["api:acme:a", "api:acme:b", "refund:rides:R-1", "txn:rides:T-1"]


async def test_a_producer_without_a_key_does_not_start(house: House) -> None:
    keys = KEYS.split(",", maxsplit=1)[0]
    env = house.environment() | {"ABACUS_ENVELOPE_KEYS": keys}
    refused = await abacus("quarantine", "replay", "--all", env=env)
    assert (refused.code, refused.err) == (
        2,
        "abacus: ABACUS_ENVELOPE_KEYS has no key of the operator, who has to sign envelopes\n",
    )
