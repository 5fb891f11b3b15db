"""The reference partner: nothing is answered before it is durable, and it misbehaves as it is asked to."""

import asyncio
import signal
import sys
from pathlib import Path
from uuid import UUID, uuid4

import orjson
import pytest

from abacus.core.clock import SystemClock
from abacus.exchanges.carriers.line import NoAnswer
from abacus.exchanges.decide.heard import Cancelled, Credited, NotKnown, Pending, Rejected, Silence
from abacus.exchanges.decide.invented_accounts import CAPPED
from abacus.platform.delivery.decide.signature import BadSignature, check_signature, new_secret
from tests.support.partner_sim import Partner, partner_sim, transfer
from tests.support.paths import ROOT
from tests.support.receiver import Receiver, receiving
from tests.support.soon import soon

pytestmark = pytest.mark.once


async def test_what_is_pending_is_decided_and_told() -> None:
    async with receiving() as house, partner_sim(callbacks=_address(house)) as partner:
        await partner.behaves(slow=1, slow_s=0)
        asked = transfer(amount=500)
        assert await partner.port.put(asked) == Pending()
        await soon(lambda: len(house.requests) == 1)
        (request,) = house.requests
        check_signature([partner.secret], request.headers, request.body, SystemClock().now().timestamp())
        assert request.json["type"] == "transfer.credited"
        assert request.json["data"]["id"] == str(asked.exchange_id)
        assert request.json["data"]["amount"] == 500
        assert isinstance(await partner.port.get(asked.exchange_id), Credited)


async def test_a_callback_is_sent_until_it_arrives_and_twice_where_that_is_asked() -> None:
    async with receiving() as house, partner_sim(callbacks=_address(house)) as partner:
        house.answers("503 Busy")
        await partner.behaves(slow=1, slow_s=0, duplicates=1)
        await partner.port.put(transfer())
        await soon(lambda: len(house.requests) >= 2)
        assert (await partner.ledger())["callbacks"] == 1
        house.answers("204 No Content", "connection: close")
        sent = len(house.requests)
        await soon(lambda: len(house.requests) >= sent + 2)
        assert len({request.id for request in house.requests}) == 1


async def test_a_callback_that_is_signed_badly() -> None:
    async with receiving() as house, partner_sim(callbacks=_address(house)) as partner:
        await partner.behaves(slow=1, slow_s=0, bad_signature=1)
        await partner.port.put(transfer())
        await soon(lambda: len(house.requests) == 1)
        (request,) = house.requests
        with pytest.raises(BadSignature):
            check_signature([partner.secret], request.headers, request.body, SystemClock().now().timestamp())


async def test_what_was_taken_back_by_the_partner_is_told() -> None:
    async with receiving() as house, partner_sim(callbacks=_address(house)) as partner:
        asked = transfer()
        await partner.port.put(asked)
        await partner.asked("POST", "/_take-back", {"id": str(asked.exchange_id)})
        await soon(lambda: len(house.requests) == 1)
        assert house.requests[0].json["type"] == "transfer.reversed"


async def test_a_refusal_and_a_tombstone_are_forgotten_where_that_is_asked() -> None:
    async with partner_sim() as partner:
        await partner.behaves(forgets_refusals=True, forgets_tombstones=True)
        refused, cancelled = transfer(CAPPED), transfer()
        assert isinstance(await partner.port.put(refused), Rejected)
        assert await partner.port.get(refused.exchange_id) == NotKnown()
        assert isinstance(await partner.port.put(refused), Credited)
        assert await partner.port.cancel(cancelled.exchange_id) == Cancelled()
        assert isinstance(await partner.port.put(cancelled), Credited)


async def test_the_tombstone_of_a_forgotten_refusal_holds() -> None:
    async with partner_sim() as partner:
        await partner.behaves(forgets_refusals=True)
        refused = transfer(CAPPED)
        await partner.port.put(refused)
        assert await partner.port.cancel(refused.exchange_id) == Cancelled()
        assert await partner.port.put(refused) == Cancelled()


async def test_other_ways_to_misbehave() -> None:
    async with partner_sim() as partner:
        asked = transfer(amount=500)
        await partner.behaves(wrong_amount=1)
        assert await partner.port.put(asked) == Credited(501, "PS0000000001")
        await partner.behaves(fails=1)
        assert isinstance(await partner.port.put(transfer()), Silence)
        await partner.behaves(skew_s=600)
        assert isinstance(await partner.port.put(transfer()), Silence)
        await partner.behaves(silent=1)
        with pytest.raises(NoAnswer, match="no answer within"):
            await partner.asked("GET", "/statement", within_s=0.1)
        await partner.behaves(credits_again=True)
        await partner.port.put(asked)
        assert await partner.balance(asked.account.number) == 1000
        assert (await partner.asked("PUT", "/_behave", {"lies": 1})).status == 400


async def test_the_same_seed_has_the_same_fate() -> None:
    async def fates(partner: Partner) -> list[bool]:
        await partner.behaves(seed=7, fails=0.5)
        said = [await partner.port.get(uuid4()) for _ in range(20)]
        return [isinstance(each, Silence) for each in said]

    async with partner_sim() as partner:
        first = await fates(partner)
        assert await fates(partner) == first
        assert {True, False} == set(first)


def _address(house: Receiver) -> str:
    return f"http://127.0.0.1:{house.port}/v1/exchange-callbacks/skymiles"


# --- Its members send points to the house ---


def answer(status: str, **document: object) -> bytes:
    body = orjson.dumps(document)
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


async def test_points_are_captured_once_the_house_has_awarded_them() -> None:
    async with receiving() as house, partner_sim(house=f"http://127.0.0.1:{house.port}", house_key="abk") as partner:
        house.answer = answer("503 Busy")
        await partner.asked("POST", "/_earn", {"number": "77", "points": 900})
        sent = orjson.loads((await partner.asked("POST", "/_send", {"number": "77", "points": 600})).body)
        await soon(lambda: len(house.requests) >= 2)
        assert (await partner.ledger())["accounts"] == [{"number": "77", "balance": 900, "held": 600}]
        too_many = await partner.asked("POST", "/_send", {"number": "77", "points": 600})
        assert too_many.status == 422
        house.answer = answer("201 Created", state="reserved")
        await soon(lambda: any(each.line.startswith("POST") for each in house.requests))
        house.answer = answer("200 OK", state="awarded")
        await _comes_to(partner, "captured")
        assert (await partner.ledger())["accounts"] == [{"number": "77", "balance": 300, "held": 0}]
        assert {request.headers["authorization"] for request in house.requests} == {"Bearer abk"}
        assert house.requests[0].line == f"PUT /v1/inbound-exchanges/{sent['id']} HTTP/1.1"


async def test_points_are_released_only_by_the_tombstone_of_the_house() -> None:
    async with receiving() as house, partner_sim(house=f"http://127.0.0.1:{house.port}", house_key="abk") as partner:
        house.answer = answer("422 Refused", type="/problems/limit")
        await partner.asked("POST", "/_earn", {"number": "77", "points": 900})
        await partner.asked("POST", "/_send", {"number": "77", "points": 600})
        await soon(lambda: any("/cancel" in each.line for each in house.requests))
        assert (await partner.ledger())["accounts"][0]["held"] == 600
        house.answer = answer("200 OK", state="dropped")
        await _comes_to(partner, "released")
        assert (await partner.ledger())["accounts"] == [{"number": "77", "balance": 900, "held": 0}]


async def _comes_to(partner: Partner, state: str) -> None:
    async with asyncio.timeout(5):
        while (await partner.ledger())["sent"][0]["state"] != state:  # noqa: ASYNC110  # it is the partner's
            await asyncio.sleep(0.01)


# --- A process that is killed ---


@pytest.mark.long
async def test_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    file, secret = tmp_path / "partner.sqlite", new_secret()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", "exchanges", "partner-sim", "--port", "0", "--key", secret),
        *("--ledger", str(file)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said = (await process.stdout.readline()).decode()
    partner = Partner(said.split()[-1], secret)
    credited: list[UUID] = []

    async def sends() -> None:
        while True:
            asked = transfer(amount=7)
            if not isinstance(await partner.port.put(asked), Credited):
                return
            credited.append(asked.exchange_id)

    sending = asyncio.gather(*[sends() for _ in range(20)])
    await soon(lambda: len(credited) > 100)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    await sending
    await partner.line.close()
    async with partner_sim(file, secret=secret) as again:
        ledger = await again.ledger()
        states = {each["id"]: each["state"] for each in ledger["transfers"]}
        assert {states[str(each)] for each in credited} == {"credited"}
        assert ledger["accounts"][0]["balance"] == 7 * len(states)
