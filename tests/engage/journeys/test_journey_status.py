"""What people have to look at in journeys: waits that nobody runs, and members who could not be moved."""

from datetime import datetime, timedelta

import pytest

from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.journeys.pack_rows import put
from abacus.engage.journeys.status import STATUS, JourneyState, journey_state, measure, told_of
from abacus.platform import slices
from abacus.platform.postgres import Pool
from tests.engage.journeys.examples import AROUND, journey
from tests.engage.journeys.travelling import pack
from tests.support.agreed import agree

NOW = datetime(2026, 3, 2, 4).astimezone()


async def waits_since(pool: Pool, due: datetime) -> None:
    slice_ = (await slices.slices_of(pool))[0]
    async with slice_.at() as connection, connection.transaction():
        await put(connection, [pack([1], due)])


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


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (JourneyState(3, NOW - timedelta(minutes=4), {}), None),
        (JourneyState(3, None, {}), None),
        (
            JourneyState(3, None, {"welcome": 2}),
            "members of journeys are set aside: welcome (2)",
        ),
    ],
)
def test_what_somebody_has_to_do(state: JourneyState, fault: str | None) -> None:
    told = told_of(state, NOW)
    assert (None if told.problem is None else told.problem.fault) == fault
