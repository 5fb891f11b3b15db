"""What people have to look at in journeys: waits that nobody runs, what nobody does, and members who are set aside."""

from datetime import UTC, datetime, timedelta

import pytest

from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.actions.action_store import plan
from abacus.engage.journeys.decide.orders import CALLER, Asking, start_order
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.journeys.late_rows import Late, keep_late
from abacus.engage.journeys.metrics import JOURNEY_WAITING_FOR
from abacus.engage.journeys.pack_rows import put
from abacus.engage.journeys.status import NOTHING, STATUS, JourneyState, Waiting, journey_state, measure, told_of
from abacus.platform import slices
from abacus.platform.postgres import Pool
from tests.engage.journeys.examples import AROUND, journey
from tests.engage.journeys.travelling import pack
from tests.support.agreed import agree

NOW = datetime(2026, 3, 2, 4, tzinfo=UTC)


async def waits_since(pool: Pool, due: datetime) -> None:
    slice_ = (await slices.slices_of(pool))[0]
    async with slice_.at() as connection, connection.transaction():
        await put(connection, [pack([1], due)])


def late(member_id: str, due_at: datetime | None) -> Late:
    key = f"event:{due_at}"
    return Late(member_id, "welcome", key, 1, NOW, None, None, 1, due_at, "cannot be told", NOW)


async def test_waits_of_journeys_that_run_are_late(pool: Pool) -> None:
    """Of a journey that is paused they stand still."""
    clock = SystemClock()
    store, now = JourneyStore(pool), clock.now()
    ends = (now + timedelta(days=30)).isoformat()
    await agree(pool, JOURNEYS, store, journey(ends_at=ends), AROUND)
    due = now - timedelta(minutes=10)
    await waits_since(pool, due)
    state = await journey_state(pool, now)
    assert state == JourneyState(1, due, {})
    assert STATUS.undelivered is not None
    told = await STATUS.undelivered(pool, clock)
    assert told.problem is not None
    assert "nobody goes on" in told.problem.fault
    await measure(pool, clock)
    await store.move("welcome", 1, Act.PAUSE, Change("person:ann", now))
    assert (await journey_state(pool, now)).late_at is None


async def test_what_waits_to_be_done_waits_since_it_was_decided(pool: Pool) -> None:
    """Also an order that was put off. An entry waits since it should have been tried. A paused journey does nothing."""
    store, now = JourneyStore(pool), SystemClock().now()
    await agree(pool, JOURNEYS, store, journey(ends_at=(now + timedelta(days=30)).isoformat()), AROUND)
    assert (await journey_state(pool, now))[3:] == (NOTHING, NOTHING, NOTHING)
    first, second = now - timedelta(minutes=10), now - timedelta(minutes=7)
    for number, at in enumerate((second, first)):
        order = start_order(Asking("welcome", f"m{number}", f"key:{number}", CALLER, "partner:acme"), {}, now)
        async with slices.at(pool, order.member_id) as connection, connection.transaction():
            await plan(connection, [order._replace(due_at=now + timedelta(seconds=30))], at)
            deed = DeedRow("welcome", at, 1, 1, 3, 0, None, [number], [1])
            await connection.copy_records_to_table("journey_deed", records=[deed], columns=DeedRow._fields)
        async with slices.at(pool, order.member_id) as connection:
            await keep_late(connection, [late(order.member_id, due) for due in (at, now + timedelta(hours=1), None)])
    assert (await journey_state(pool, now))[3:] == (Waiting(2, first), Waiting(2, first), Waiting(4, first))
    await measure(pool, SystemClock())
    values = {each.labels["what"]: each.value for family in JOURNEY_WAITING_FOR.collect() for each in family.samples}
    assert {what: round(value / 60) for what, value in values.items()} == {"deeds": 10, "orders": 10, "entries": 10}
    await store.move("welcome", 1, Act.PAUSE, Change("person:ann", now))
    assert (await journey_state(pool, now))[3:] == (Waiting(2, None), Waiting(2, None), Waiting(4, None))


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (JourneyState(3, NOW - timedelta(minutes=4), {}), None),
        (JourneyState(3, None, {}, Waiting(3, NOW - timedelta(minutes=4)), Waiting(3, None)), None),
        (
            JourneyState(3, None, {}, deeds=Waiting(2, datetime(2026, 3, 2, 3, 50, tzinfo=UTC))),
            "deeds of journeys wait since 2026-03-02 03:50:00 UTC, and nobody does them",
        ),
        (
            JourneyState(3, None, {}, orders=Waiting(2, datetime(2026, 3, 2, 3, 50, tzinfo=UTC))),
            "entries to journeys, or ends of visits, wait since 2026-03-02 03:50:00 UTC",
        ),
        (
            JourneyState(3, None, {}, entries=Waiting(2, datetime(2026, 3, 2, 3, 50, tzinfo=UTC))),
            "entries or events of journeys that could not be decided wait since 2026-03-02 03:50:00 UTC, untried",
        ),
        (
            JourneyState(3, None, {"welcome": 2}),
            "members of journeys are set aside: welcome (2)",
        ),
    ],
)
def test_what_somebody_has_to_do(state: JourneyState, fault: str | None) -> None:
    told = told_of(state, NOW)
    assert (None if told.problem is None else told.problem.fault) == fault
