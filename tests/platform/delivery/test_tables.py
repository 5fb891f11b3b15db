"""The contract of a table of deliveries: a delivery is taken once, for a while, and settled by its claim's worker."""

import asyncio
from datetime import timedelta

import pytest

from abacus.engage.notify.outbox import TABLE as NOTIFICATIONS
from abacus.engage.notify.outbox import Notification
from abacus.platform.delivery.outbox import Outbox
from abacus.platform.delivery.types import Answer, DeliveryOutcome, Room, Said, Settled, Verdict
from abacus.platform.postgres import Pool
from tests.support.delivery_tables import ACME, BITS, CLOCK, DOWN, RECEIVERS, UP, NotificationTable, Stored, Table

ROOM = Room(most=100, per_receiver=100, busy={})
FAILED, ACCEPTED = Answer(Said.FAILED, "no answer"), Answer(Said.ACCEPTED)
DELIVERED, GIVEN_UP = Verdict(DeliveryOutcome.DELIVERED), Verdict(DeliveryOutcome.GIVEN_UP, reason="no answer")
GONE = Verdict(DeliveryOutcome.GONE, reason="no answer")


def retried_after(seconds: float) -> Verdict:
    return Verdict(DeliveryOutcome.RETRIED, CLOCK.now() + timedelta(seconds=seconds), "no answer")


async def test_any_number_of_takers_share_what_is_due(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [ACME] * 40)

    async def take_all() -> list[str]:
        deliveries, taken = table.deliveries(pool), list[str]()
        while claims := await deliveries.take(Room(7, 100, {})):
            taken += [claim.id for claim in claims]
        return taken

    shares = await asyncio.gather(*(take_all() for _ in range(4)))
    taken = [id_ for share in shares for id_ in share]
    # A worker may meet only deliveries that others have locked, and tries again.
    assert sorted(taken + await take_all()) == ids


async def test_as_much_as_there_is_room_for_what_is_due_longest_first(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [ACME, BITS] * 5)
    deliveries = table.deliveries(pool)
    first = await deliveries.take(Room(4, 4, {}))
    assert sorted(claim.id for claim in first) == ids[:4]
    assert {claim.receiver for claim in first} == {ACME, BITS}
    assert {claim.attempts for claim in first} == {1}
    assert len(await deliveries.take(ROOM)) == 6
    assert not await deliveries.take(ROOM)


async def test_a_killed_worker_holds_its_claims_until_the_lease_is_over(pool: Pool, table: Table) -> None:
    await table.enter(pool, [ACME])
    (killed,) = await table.deliveries(pool).take(ROOM)
    assert not await table.deliveries(pool).take(ROOM)
    await table.end_leases(pool)
    (again,) = await table.deliveries(pool).take(ROOM)
    assert (again.id, again.attempts) == (killed.id, 2)


# The verdict; the values that the table keeps; whether the delivery may be taken at once.
VERDICTS = [
    (DELIVERED, Stored(1, delivered=True, given_up=False, reason=None), False),
    (GIVEN_UP, Stored(1, delivered=False, given_up=True, reason="no answer"), False),
    (
        Verdict(DeliveryOutcome.GONE, reason="no answer"),
        Stored(1, delivered=False, given_up=True, reason="no answer"),
        False,
    ),
    (retried_after(-1), Stored(1, delivered=False, given_up=False, reason="no answer"), True),
    (retried_after(3600), Stored(1, delivered=False, given_up=False, reason="no answer"), False),
]


@pytest.mark.parametrize(("verdict", "stored", "again"), VERDICTS, ids=lambda value: getattr(value, "outcome", ""))
async def test_what_a_verdict_leaves(
    pool: Pool,
    table: Table,
    verdict: Verdict,
    stored: Stored,
    again: bool,  # noqa: FBT001  # the outcome of a row
) -> None:
    (id_,) = await table.enter(pool, [ACME])
    deliveries = table.deliveries(pool)
    (claim,) = await deliveries.take(ROOM)
    settled = [Settled(claim, ACCEPTED if verdict is DELIVERED else FAILED, verdict)]
    for _ in range(2):  # the second time, because nobody knows whether a server that went away had done it
        await deliveries.settle(settled)
        assert await table.stored(pool) == {id_: stored}
    assert bool(await deliveries.take(ROOM)) is again


async def test_many_are_settled_together_each_by_its_own_verdict(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [RECEIVERS[number % 5] for number in range(30)])
    deliveries = table.deliveries(pool)
    verdicts = [DELIVERED, GIVEN_UP, retried_after(3600)]
    claims = sorted(await deliveries.take(ROOM), key=lambda claim: claim.id)
    await deliveries.settle([Settled(claim, FAILED, verdicts[n % 3]) for n, claim in enumerate(claims)])
    stored = await table.stored(pool)
    assert [stored[id_].delivered for id_ in ids] == [n % 3 == 0 for n in range(30)]
    assert [stored[id_].given_up for id_ in ids] == [n % 3 == 1 for n in range(30)]


@pytest.mark.parametrize("verdict", [GIVEN_UP, retried_after(-1)], ids=["given up", "retried"])
async def test_a_failure_that_comes_late_changes_nothing(pool: Pool, table: Table, verdict: Verdict) -> None:
    (id_,) = await table.enter(pool, [ACME])
    deliveries = table.deliveries(pool)
    (late,) = await deliveries.take(ROOM)
    await table.end_leases(pool)
    (mine,) = await deliveries.take(ROOM)
    await deliveries.settle([Settled(late, FAILED, verdict)])
    assert not await deliveries.take(ROOM)
    await deliveries.settle([Settled(mine, ACCEPTED, DELIVERED)])
    await deliveries.settle([Settled(late, FAILED, verdict)])
    assert await table.stored(pool) == {id_: Stored(2, delivered=True, given_up=False, reason=None)}


async def test_what_was_delivered_is_delivered_whoever_has_it(pool: Pool, table: Table) -> None:
    (id_,) = await table.enter(pool, [ACME])
    deliveries = table.deliveries(pool)
    (late,) = await deliveries.take(ROOM)
    await table.end_leases(pool)
    (mine,) = await deliveries.take(ROOM)
    await deliveries.settle([Settled(late, ACCEPTED, DELIVERED)])
    await deliveries.settle([Settled(mine, FAILED, GIVEN_UP)])
    assert await table.stored(pool) == {id_: Stored(2, delivered=True, given_up=False, reason=None)}


async def test_what_is_put_back_has_all_its_time_again(pool: Pool) -> None:
    """A message that may not start now; deliveries of the other tables are never put back."""
    table, now, hour = NotificationTable(), CLOCK.now(), timedelta(hours=1)
    (other,) = await table.enter(pool, [DOWN])
    await pool.execute(
        "insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at, attempts,"
        " failing_since, quiet_from, quiet_until, zone)"
        " values ($1, 'quiet', 'log', 'en', '[]', $2, $2, 3, $2, $3, $4, 'UTC')",
        UP,
        now - hour,
        (now - hour).time(),
        (now + hour).time(),
    )
    assert [each.id for each in await table.deliveries(pool).take(ROOM)] == [other]
    row = await pool.fetchrow(
        "select attempts, failing_since, due_at = $1 from notification where message_id = 'quiet'", now + hour
    )
    assert tuple(row) == (0, None, True)
    assert await table.deliveries(pool).take(ROOM) == []


async def test_what_another_has_taken_is_not_put_back(pool: Pool) -> None:
    """A worker is slow, and its lease is over."""
    table, earlier = NotificationTable(), CLOCK.now() - timedelta(minutes=1)
    outbox: Outbox[Notification] = Outbox(NOTIFICATIONS, pool, CLOCK)
    await table.enter(pool, [ACME])
    (late,) = await table.deliveries(pool).take(ROOM)
    await table.end_leases(pool)
    (mine,) = await table.deliveries(pool).take(ROOM)
    await outbox.put_back([(late, earlier)])
    assert await table.deliveries(pool).take(ROOM) == []
    await outbox.put_back([(mine, earlier)])
    assert [each.attempts for each in await table.deliveries(pool).take(ROOM)] == [1]
