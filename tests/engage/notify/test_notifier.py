"""The worker `notifier` on the real stack: one signed message an event, also after a kill or an outage."""

import asyncio
from dataclasses import replace
from datetime import datetime

import orjson
import pytest

from abacus.engage.notify.decide.message import ChannelName
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.postgres import Pool
from tests.engage.notify.telling import CLOCK, SECRET, count, earned, enter_and_gather, settled
from tests.support.cluster import Servers
from tests.support.hooks import award
from tests.support.house import House, until
from tests.support.proxy import proxied
from tests.support.receiver import Receiver, receiving


async def test_told_to_stop_it_finishes_what_is_under_way(house: House) -> None:
    async with receiving() as receiver:
        telling = told_by_webhook(house, receiver)
        receiver.goes_on.clear()
        await enter_and_gather(house.pool, earned("bob", 1), channels=(ChannelName.WEBHOOK,))
        async with telling.running("notifier"):
            await until(lambda: _seen(receiver, 1))
            asyncio.get_running_loop().call_later(0.3, receiver.goes_on.set)
        assert await count(house.pool, "sent_at") == 1
        assert len(receiver.requests) == 1


def told_by_webhook(house: House, receiver: Receiver) -> House:
    changes = {
        "notify_channels": "webhook",
        "notify_webhook_url": receiver.url,
        "notify_webhook_secret": SECRET,
        "webhooks_to_private": True,
        "notify_gather_seconds": 0.5,
    }
    return replace(house, settings=house.settings.model_copy(update=changes))


async def tier_change(house: House, member: str, at: datetime) -> None:
    data: dict[str, object] = {"member_id": member, "program": "GRP", "country": "SG", "from": "member", "to": "silver"}
    data |= {"reason": "upgrade", "until": "2026-12-31"}
    change = {"id": f"{member}:GRP:tier:1", "type": "abacus.tier.changed.v1", "time": at}
    publisher = StreamPublisher(house.settings.required("kafka_bootstrap"))
    value = orjson.dumps(change | {"data": data})
    await publisher.publish(house.settings.tiers_topic, [StreamMessage(member.encode(), value)])
    await publisher.close()


@pytest.mark.long
async def test_from_both_streams_to_one_signed_message_and_again_nothing_new(house: House) -> None:
    async with receiving() as receiver:
        settings = told_by_webhook(house, receiver).settings.model_copy(update={"notify_gather_seconds": 3600})
        async with house.running("relay", "notifier", settings=settings) as health:
            await until(lambda: _is_ready(health.worker("notifier")))
            await PostgresLedger(house.pool, CLOCK).post([award(f"txn:rides:{n}", 5) for n in range(4)])
            await tier_change(house, "bob", CLOCK.now())
            await _entered(house, 5)
            await settled(house.pool, "sent_at", 1)
        again = settings.model_copy(update={"queue_prefix": "again-" + settings.queue_prefix[-12:]})
        async with house.running("relay", "notifier", settings=again):
            await PostgresLedger(house.pool, CLOCK).post([award("txn:rides:last", 7)])
            await _entered(house, 6)
            await settled(house.pool, "sent_at", 2)
    told = receiver.requests
    assert all(request.is_signed_with(SECRET) for request in told)
    assert [request.id for request in told] == [request.json["id"] for request in told]
    assert [news["kind"] for news in told[0].json["about"]] == ["tier_changed", "earned"]
    assert (told[0].json["about"][1]["points"], told[0].json["about"][1]["count"]) == (20, 4)
    assert told[0].json["title"] == "Congratulations, you are silver now"
    assert [news["points"] for news in told[1].json["about"]] == [7]
    assert len(told) == 2


@pytest.mark.long
async def test_kill_9_in_mid_delivery_delivers_later_under_the_same_id(house: House) -> None:
    async with receiving() as receiver:
        telling = told_by_webhook(house, receiver)
        receiver.goes_on.clear()
        await enter_and_gather(house.pool, earned("bob", 1, at=CLOCK.now()), channels=(ChannelName.WEBHOOK,))
        async with telling.process("notifier") as killed:
            await until(lambda: _seen(receiver, 1))
            killed.kill()
            await killed.wait()
        assert await count(house.pool, "sent_at") == 0
        await house.pool.execute("update notification set due_at = now()")  # as if its minute had passed
        receiver.goes_on.set()
        async with telling.running("notifier"):
            await settled(house.pool, "sent_at", 1)
        assert len(receiver.ids) == 2
        assert len(set(receiver.ids)) == 1


@pytest.mark.long
async def test_a_webhook_that_was_down_gets_everything(house: House) -> None:
    async with receiving() as receiver:
        telling = told_by_webhook(house, receiver)
        await receiver.down()
        await enter_and_gather(house.pool, *(earned(f"m{n}", 1) for n in range(5)), channels=(ChannelName.WEBHOOK,))
        async with telling.running("notifier"):
            await until(lambda: _all_failed(house.pool))
            await receiver.up()
            await settled(house.pool, "sent_at", 5)
        assert len(set(receiver.ids)) == 5


async def test_the_worker_waits_for_the_database_and_says_so(house: House, servers: Servers) -> None:
    if servers.are_several:
        pytest.skip("the proxy is the coordinator's, and a notifier without work asks the servers of the slices alone")
    async with proxied(house.settings.required("database_url")) as (proxy, url):
        settings = house.settings.model_copy(update={"database_url": url})
        async with house.running("notifier", settings=settings) as health:
            await until(lambda: _is_ready(health.worker("notifier")))
            await proxy.cut()
            await until(lambda: _waits(health.worker("notifier")))
            await enter_and_gather(house.pool, earned("bob", 1))
            await proxy.mend()
            await settled(house.pool, "sent_at", 1)
            await until(lambda: _is_ready(health.worker("notifier")))


async def _entered(house: House, wanted: int) -> None:
    """Wait until so many events are entered; then let the time to gather be over."""

    async def reached() -> bool:
        return bool(await house.pool.fetchval("select count(*) = $1 from notice", wanted))

    await until(reached)
    await house.pool.execute("update notice set due_at = now() where told_at is null")


async def _is_ready(health: WorkerHealth) -> bool:
    return health.state is WorkerState.READY


async def _waits(health: WorkerHealth) -> bool:
    return health.state is WorkerState.WAITING and health.detail.startswith("database")


async def _seen(receiver: Receiver, wanted: int) -> bool:
    return len(receiver.requests) >= wanted


async def _all_failed(pool: Pool) -> bool:
    return not await pool.fetchval("select count(*) from notification where last_error is null")
