"""Partners are told of their awards: signed, once for each event, and for as long as it takes."""

from dataclasses import replace

import asyncpg
import pytest

from abacus.core.ids import award_id
from abacus.intake.partners.metrics import WEBHOOKS
from abacus.ledger.types.limits import Limits
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from tests.support.hooks import (
    CLOCK,
    award,
    enter_rejections,
    partner,
    post,
    post_and_enter,
    seen,
    sending,
    settled,
)
from tests.support.house import House, until
from tests.support.proxy import proxied
from tests.support.receiver import Receiver
from tests.support.slices import SLICES

pytestmark = pytest.mark.once


async def test_posted_and_rejected_arrive_signed(house: House, receiver: Receiver) -> None:
    secret = await partner(house.pool, "acme", receiver.url, Limits(per_award=50))
    await partner(house.pool, "bits", f"http://127.0.0.1:{receiver.port}/bits")
    settings = house.settings.model_copy(update={"webhooks_to_private": True})
    async with house.running("relay", "webhooks", settings=settings) as health:
        await post(
            house.pool,
            award("api:acme:w-1"),
            award("api:acme:w-2", 51),
            award("txn:rides:T-1"),
            award("api:nobody:1"),
            award("api:bits:1"),
        )
        await settled(house.pool, "delivered_at", 3)
        await until(lambda: _is_ready(health.worker("webhooks")))

    (bits,) = [request for request in receiver.requests if request.line.startswith("POST /bits ")]
    assert bits.json["data"]["idempotency_key"] == "1"
    ours = {request.json["type"]: request for request in receiver.requests if request.is_signed_with(secret)}
    assert len(receiver.requests) == 3
    posted, rejected = ours["award.posted"], ours["award.rejected"]
    assert posted.line == "POST /hooks?for=acme HTTP/1.1"
    assert posted.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert posted.headers["content-type"] == "application/json"
    assert abs(int(posted.headers["webhook-timestamp"]) - CLOCK.now().timestamp()) < 60
    told = posted.json["data"]
    assert told["award_id"] == str(award_id("api:acme:w-1"))
    assert (told["status"], told["points"], told["balance"], told["idempotency_key"]) == ("posted", 5, 5, "w-1")
    assert told["explanation"] == {"granted_by": "acme", "points": 5}
    told = rejected.json["data"]
    assert told["award_id"] == str(award_id("api:acme:w-2"))
    assert (told["status"], told["reason"]) == ("rejected", "award-cap-exceeded")


async def _is_ready(health: WorkerHealth) -> bool:
    return health.state is WorkerState.READY


async def test_the_worker_waits_for_the_database_and_says_so(house: House, receiver: Receiver) -> None:
    await partner(house.pool, "acme", receiver.url)
    async with proxied(house.settings.required("database_url")) as (proxy, url):
        await proxy.cut()
        settings = house.settings.model_copy(update={"webhooks_to_private": True, "database_url": url})
        async with house.running("webhooks", settings=settings) as health:
            await until(lambda: _waits(health.worker("webhooks")))
            await proxy.mend()
            await until(lambda: _is_ready(health.worker("webhooks")))
            await proxy.cut()
            await until(lambda: _waits(health.worker("webhooks")))
            await proxy.mend()
            await until(lambda: _is_ready(health.worker("webhooks")))
            await post_and_enter(house.pool, award("api:acme:1"))
            await settled(house.pool, "delivered_at", 1)


async def _waits(health: WorkerHealth) -> bool:
    return health.state is WorkerState.WAITING and health.detail.startswith("database")


@pytest.mark.long
async def test_the_stream_read_again_makes_no_second_delivery(house: House, receiver: Receiver) -> None:
    await partner(house.pool, "acme", receiver.url)
    settings = house.settings.model_copy(update={"webhooks_to_private": True})
    await post(house.pool, *(award(f"api:acme:{number}") for number in range(5)))
    async with house.running("relay", "webhooks", settings=settings):
        await settled(house.pool, "delivered_at", 5)
    again = settings.model_copy(update={"queue_prefix": "again-" + settings.queue_prefix[-12:]})
    async with house.running("relay", "webhooks", settings=again):
        await post(house.pool, award("api:acme:last"))
        await settled(house.pool, "delivered_at", 6)
    assert sorted(request.json["data"]["idempotency_key"] for request in receiver.requests) == [*"01234", "last"]


async def test_events_that_cannot_be_read_hold_up_nothing(house: House, receiver: Receiver) -> None:
    await partner(house.pool, "acme", receiver.url)
    before = total(WEBHOOKS, outcome="unreadable")
    publisher = StreamPublisher(house.settings.required("kafka_bootstrap"))
    bad = [b"", b"no json", b'{"type":"abacus.points.earned.v1","data":{"key":"api:acme:x"}}']
    await publisher.publish(house.settings.points_topic, [StreamMessage(b"bob", value) for value in bad])
    await publisher.close()
    await post(house.pool, award("api:acme:1"))
    settings = house.settings.model_copy(update={"webhooks_to_private": True})
    async with house.running("relay", "webhooks", settings=settings):
        await settled(house.pool, "delivered_at", 1)
    assert total(WEBHOOKS, outcome="unreadable") >= before + 3


async def test_a_webhook_is_told_only_what_happens_after_it_was_set(pool: Pool, receiver: Receiver) -> None:
    await post(pool, award("api:acme:before"))
    await partner(pool, "acme", receiver.url)
    await post_and_enter(pool, award("api:acme:after"))
    rows = await pool.fetch("select body from webhook_delivery")
    assert len(rows) == 1
    assert '"after"' in rows[0]["body"]


@pytest.mark.long
async def test_kill_9_in_mid_delivery_delivers_later(house: House, receiver: Receiver) -> None:
    await partner(house.pool, "acme", receiver.url)
    receiver.goes_on.clear()
    await post_and_enter(house.pool, award("api:acme:1"))
    settings = house.settings.model_copy(update={"webhooks_to_private": True})
    async with replace(house, settings=settings).process("webhooks") as killed:
        await until(lambda: seen(receiver, 1))
        killed.kill()
        await killed.wait()
    await house.pool.execute("update webhook_delivery set taken_until = now()")  # as if its minute had passed
    receiver.goes_on.set()
    async with sending(house.pool):
        await settled(house.pool, "delivered_at", 1)
    assert len(receiver.ids) == 2
    assert len(set(receiver.ids)) == 1


@pytest.mark.skipif(SLICES > 1, reason="writers of a slice wait for each other: tests/ledger/slices/test_slices.py")
async def test_a_rejection_that_commits_late_is_not_skipped(pool: Pool, database_url: str) -> None:
    await partner(pool, "acme", "https://hooks.example/", Limits(per_award=1))
    insert = (
        "insert into rejection (key, member_id, program, points, fingerprint, reason, detail, rejected_at)"
        " values ('api:acme:late', 'bob', 'GRP', 5, '', 'award-cap-exceeded', '', now())"
    )
    late = await asyncpg.connect(database_url, server_settings={"role": "abacus_app"})
    try:
        transaction = late.transaction()
        await transaction.start()
        await late.execute(insert)
        await post(pool, award("api:acme:1"))
        assert await enter_rejections(pool) == 0  # awards that were rejected after it wait for it
        await transaction.commit()
    finally:
        await late.close()
    assert await enter_rejections(pool) == 2
    assert await enter_rejections(pool) == 0
    assert await pool.fetchval("select count(*) from webhook_delivery") == 2


async def test_rejections_are_read_in_the_order_of_numbers_and_not_of_texts(pool: Pool) -> None:
    """As texts, 10 comes before 9: if 10 has more than a batch, the rejections of 9 would be passed over for ever."""
    await partner(pool, "acme", "https://hooks.example/", Limits(per_award=1))
    for xid, count in (("9", 3), ("10", 1100)):
        await pool.execute(
            "insert into rejection select 'api:acme:' || $1 || '-' || n, 'bob', 'GRP', 5, '', 'award-cap-exceeded', '',"
            " now(), $1::text::xid8 from generate_series(1, $2) as n",
            xid,
            count,
        )
    entered = 0
    while count := await enter_rejections(pool):
        entered += count
    assert entered == 1103
    assert await pool.fetchval("select count(*) from webhook_delivery") == 1103


async def test_a_cursor_ahead_of_the_server_is_said(pool: Pool) -> None:
    await enter_rejections(pool)
    await pool.execute("update webhook_cursor set xid = '999999999999'")
    with pytest.raises(Exception, match="was it restored from a dump"):
        await enter_rejections(pool)
