"""Sending: the verdict on each answer, receivers that hold up nobody else, and the claims of a killed worker."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest
from prometheus_client import Gauge

from abacus.core.errors import Refused
from abacus.intake.partners.metrics import WEBHOOKS, WEBHOOKS_OLDEST, WEBHOOKS_WAITING
from abacus.intake.partners.webhooks.outbox import WebhookOutbox
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.platform.delivery.decide.reply import Reply
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.delivery.post import Poster
from abacus.platform.delivery.types import Concurrency
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from tests.support.hooks import CLOCK, award, partner, post_and_enter, seen, sending, settled
from tests.support.house import until
from tests.support.receiver import Receiver, receiving
from tests.support.sealing import tampering


async def test_a_receiver_that_was_down_gets_everything_under_the_same_ids(pool: Pool, receiver: Receiver) -> None:
    secret = await partner(pool, "acme", receiver.url)
    receiver.answers("500 Oops", body="try\r\nlater\x00")
    await post_and_enter(pool, *(award(f"api:acme:{number}") for number in range(12)))
    async with sending(pool):
        await until(lambda: seen(receiver, 30))
        rows = await WebhookStore(pool, CLOCK).undelivered("acme", 100)
        assert {each.last_error for each in rows} <= {"answered 500: try later", None}
        await receiver.down()
        await until(lambda: _all_refused(pool))
        failed = set(receiver.ids)
        receiver.requests.clear()
        receiver.answers("200 OK", body="thanks")
        await receiver.up()
        await settled(pool, "delivered_at", 12)
    assert failed == set(receiver.ids)
    assert len(receiver.ids) == 12
    assert all(request.is_signed_with(secret) for request in receiver.requests)
    assert await pool.fetchval("select min(attempts) from webhook_delivery") > 1


async def _all_refused(pool: Pool) -> bool:
    rows = await pool.fetch("select last_status, last_error from webhook_delivery")
    return all(row["last_status"] is None and "127.0.0.1" in (row["last_error"] or "") for row in rows)


async def test_410_disables_the_webhook_until_somebody_enables_it(pool: Pool, receiver: Receiver) -> None:
    store = WebhookStore(pool, CLOCK)
    await partner(pool, "acme", receiver.url)
    receiver.answers("410 Gone")
    await post_and_enter(pool, *(award(f"api:acme:{number}") for number in range(20)))
    async with sending(pool):
        await settled(pool, "given_up_at", 20)
        webhook, counts = await store.get("acme")
        assert webhook.disabled_at is not None
        assert counts == (0, 20)
        await post_and_enter(pool, award("api:acme:while disabled"))
        with pytest.raises(Refused, match=r"disabled since .* \(answered 410\); with --enable"):
            await store.retry("acme", [], enable=False)
    receiver.answers("200 OK")
    async with sending(pool):
        assert await store.retry("acme", [], enable=True) == 20
        await settled(pool, "delivered_at", 20)
        await post_and_enter(pool, award("api:acme:later"))
        await settled(pool, "delivered_at", 22)  # the stream was read again, with events from the disabled time
    assert (await store.get("acme"))[0].disabled_at is None


async def test_another_address_is_not_gone_because_the_one_before_was(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    receiver.answers("410 Gone")
    receiver.goes_on.clear()
    await post_and_enter(pool, award("api:acme:1"))
    async with sending(pool), receiving() as other:
        await until(lambda: seen(receiver, 1))
        assert not await WebhookStore(pool, CLOCK).set("acme", other.url, new_secret())
        receiver.goes_on.set()
        await settled(pool, "delivered_at", 1)
        assert other.ids == receiver.ids


async def test_three_days_after_it_was_made_a_message_is_given_up_and_kept(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    receiver.answers("404 Not Found")
    await post_and_enter(pool, award("api:acme:1"), award("api:acme:2"))
    row = await pool.fetchrow("select retry_until - created_at as tried_for from webhook_delivery")
    assert row["tried_for"] == timedelta(days=3)
    await pool.execute("update webhook_delivery set retry_until = now()")
    store = WebhookStore(pool, CLOCK)
    async with sending(pool):
        await settled(pool, "given_up_at", 2)
        receiver.answers("200 OK")
        first, second = await store.undelivered("acme", 10)
        assert (first.attempts, first.last_status, first.last_error) == (1, 404, "answered 404")
        with pytest.raises(Refused, match="'msg_x' is no undelivered message of acme"):
            await store.retry("acme", [first.message_id, "msg_x"], enable=False)
        assert await store.retry("acme", [first.message_id], enable=False) == 1
        await settled(pool, "delivered_at", 1)
    assert [each.message_id for each in await store.undelivered("acme", 10)] == [second.message_id]


async def test_one_that_fails_here_does_not_keep_the_others_from_being_sent(
    pool: Pool, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await partner(pool, "acme", receiver.url)
    await post_and_enter(pool, *(award(f"api:acme:{number}") for number in range(3)))
    post, posted = Poster.post, list[str]()

    async def post_but_the_first(poster: Poster, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        posted.append(headers["webhook-id"])
        if posted.count(posted[0]) == 1 and headers["webhook-id"] == posted[0]:
            raise ZeroDivisionError
        return await post(poster, url, headers, body)

    monkeypatch.setattr(Poster, "post", post_but_the_first)
    async with sending(pool):
        await settled(pool, "delivered_at", 2)
        await _let_leases_end(pool)
        await settled(pool, "delivered_at", 3)
    assert sorted(receiver.ids) == sorted(set(posted))
    assert posted.count(posted[0]) == 2


async def test_a_delivery_that_is_cut_off_is_made_later_under_its_id(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    receiver.goes_on.clear()
    await post_and_enter(pool, award("api:acme:1"))
    async with sending(pool) as first:
        await until(lambda: seen(receiver, 1))
        first.cancel()
        await asyncio.wait((first,))
    assert await pool.fetchval("select taken_until from webhook_delivery") > CLOCK.now()
    await _let_leases_end(pool)
    receiver.goes_on.set()
    async with sending(pool):
        await settled(pool, "delivered_at", 1)
    assert len(receiver.ids) == 2
    assert len(set(receiver.ids)) == 1


async def _let_leases_end(pool: Pool) -> None:
    """Make deliveries due, as if their minute had passed."""
    await pool.execute("update webhook_delivery set taken_until = now() where delivered_at is null")


async def test_told_to_stop_it_finishes_what_is_under_way(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    receiver.goes_on.clear()
    await post_and_enter(pool, award("api:acme:1"))
    async with sending(pool):
        await until(lambda: seen(receiver, 1))
        asyncio.get_running_loop().call_later(0.3, receiver.goes_on.set)
    assert await pool.fetchval("select delivered_at from webhook_delivery") is not None


async def test_several_workers_share_the_work(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    await post_and_enter(pool, *(award(f"api:acme:{number}") for number in range(60)))
    async with sending(pool), sending(pool), sending(pool):
        await settled(pool, "delivered_at", 60)
    assert len(receiver.ids) == len(set(receiver.ids)) == 60


async def test_a_slow_receiver_holds_up_nobody_else(pool: Pool, receiver: Receiver) -> None:
    async with receiving() as slow:
        slow.goes_on.clear()
        await partner(pool, "slow", slow.url)
        await partner(pool, "acme", receiver.url)
        await post_and_enter(pool, *(award(f"api:slow:{number}") for number in range(20)), award("api:acme:1"))
        async with sending(pool, concurrency=Concurrency(at_once=64, per_receiver=3)):
            await settled(pool, "delivered_at", 1)
            assert len(receiver.ids) == 1
            await until(lambda: seen(slow, 3))
            slow.goes_on.set()
            await settled(pool, "delivered_at", 21)
        assert slow.most_at_once == 3


async def test_a_receiver_that_does_not_answer_is_left_after_a_while(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    receiver.goes_on.clear()
    await post_and_enter(pool, award("api:acme:1"))
    async with sending(pool, within_s=0.2):
        await until(lambda: seen(receiver, 2))
        errors = await pool.fetchval("select last_error from webhook_delivery")
    assert errors == "no answer within 0.2 s"


async def test_a_receiver_that_failed_gets_one_at_a_time_until_one_succeeds(pool: Pool, receiver: Receiver) -> None:
    receiver.answers("503 Busy")
    await partner(pool, "acme", receiver.url)
    await post_and_enter(pool, award("api:acme:1"))
    async with sending(pool):
        await until(lambda: seen(receiver, 1))
        await post_and_enter(pool, *(award(f"api:acme:{number}") for number in range(2, 12)))
        receiver.most_at_once = 0
        await until(lambda: seen(receiver, 8))
        assert receiver.most_at_once == 1
        receiver.answers("204 No Content")
        await settled(pool, "delivered_at", 11)


async def test_a_receiver_may_ask_for_a_longer_wait(pool: Pool, receiver: Receiver) -> None:
    receiver.answers("429 Slow down", "retry-after: 7200")
    await partner(pool, "acme", receiver.url)
    await post_and_enter(pool, award("api:acme:1"))
    async with sending(pool):
        await settled(pool, "last_status", 1)
    due_at = await pool.fetchval("select due_at from webhook_delivery")
    assert timedelta(minutes=119) < due_at - CLOCK.now() <= timedelta(hours=2)


async def test_what_was_delivered_long_ago_is_forgotten(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    await post_and_enter(pool, *(award(f"api:acme:{number}") for number in range(3)))
    await pool.execute(
        "update webhook_delivery set delivered_at = now() - interval '31 days' where message_id ="
        " (select min(message_id) from webhook_delivery)"
    )
    await pool.execute(
        "update webhook_delivery set delivered_at = now() - interval '29 days' where message_id ="
        " (select max(message_id) from webhook_delivery)"
    )
    await WebhookOutbox(pool, CLOCK).prune()
    left = await pool.fetch("select delivered_at is null from webhook_delivery order by message_id")
    assert [row[0] for row in left] == [True, False]


async def test_what_waits_is_measured(pool: Pool, database_url: str, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    receiver.goes_on.clear()
    await post_and_enter(pool, award("api:acme:1"), award("api:acme:2"))
    async with tampering(database_url) as owner:
        await owner.execute("update webhook_delivery set created_at = created_at - interval '1 hour'")
    before = total(WEBHOOKS, type="award.posted", outcome="delivered")
    WEBHOOKS_WAITING.set(0)
    async with sending(pool):

        async def counted() -> bool:
            return _value(WEBHOOKS_WAITING) == 2

        await until(counted)
        assert 3600 <= _value(WEBHOOKS_OLDEST) < 3700
        receiver.goes_on.set()
        await settled(pool, "delivered_at", 2)
    assert total(WEBHOOKS, type="award.posted", outcome="delivered") == before + 2
    assert await WebhookOutbox(pool, CLOCK).waiting() == (0, None)


def _value(gauge: Gauge) -> float:
    (value,) = [sample.value for metric in gauge.collect() for sample in metric.samples]
    return value


async def test_both_secrets_sign_while_one_takes_over(pool: Pool, receiver: Receiver) -> None:
    former, new = await partner(pool, "acme", receiver.url), new_secret()
    store = WebhookStore(pool, CLOCK)
    async with sending(pool):
        await store.rotate_secret("acme", new, overlap=timedelta(hours=1))
        await post_and_enter(pool, award("api:acme:1"))
        await settled(pool, "delivered_at", 1)
        await pool.execute("update webhook set former_secret_until = now()")
        await post_and_enter(pool, award("api:acme:2"))
        await settled(pool, "delivered_at", 2)
    assert receiver.requests[0].is_signed_with(new, former)
    assert receiver.requests[1].is_signed_with(new)


async def test_private_addresses_are_refused_without_the_setting(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", f"https://localhost:{receiver.port}/")
    await partner(pool, "bits", receiver.url)
    await post_and_enter(pool, award("api:acme:1"), award("api:bits:1"))
    store = WebhookStore(pool, CLOCK)
    async with sending(pool, to_private=False):

        async def both_failed() -> bool:
            return bool(await pool.fetchval("select count(last_error) = 2 from webhook_delivery"))

        await until(both_failed)
    (acme,), (bits,) = await store.undelivered("acme", 1), await store.undelivered("bits", 1)
    assert "is not an address of the public internet" in (acme.last_error or "")
    assert "https://host/path is needed" in (bits.last_error or "")
    assert receiver.requests == []


async def test_removed_a_webhook_gives_up_what_waits(pool: Pool, receiver: Receiver) -> None:
    await partner(pool, "acme", receiver.url)
    await post_and_enter(pool, award("api:acme:1"))
    store = WebhookStore(pool, CLOCK)
    await store.remove("acme")
    await post_and_enter(pool, award("api:acme:2"))
    rows = await pool.fetch("select last_error, given_up_at from webhook_delivery")
    assert [(row["last_error"], row["given_up_at"] is not None) for row in rows] == [("the webhook was removed", True)]
    with pytest.raises(Refused, match="there is no webhook of 'acme'"):
        await store.get("acme")
