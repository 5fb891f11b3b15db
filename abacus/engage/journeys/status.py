"""The line of journeys in the state of things, and the metrics of what people have to look at."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import Cause, Problem, Undelivered
from abacus.documents.decide.states import Status
from abacus.engage.journeys.metrics import JOURNEY_ASIDE, JOURNEY_LATE, JOURNEY_PACKS
from abacus.platform import slices
from abacus.platform.measuring import set_series
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_LATE_AFTER: Final = timedelta(minutes=5)
MOST_COUNTED: Final = 100_000

# A journey that is paused or ended stands still, and so do its waits.
_RUNNING: Final = f"""
select name from (
    select distinct on (name) name, status from journey where approved_at is not null order by name, version desc
) newest where status = '{Status.APPROVED}'
"""
_WAITING: Final = Statement(f"""
select (select count(*) from (select from pack limit {MOST_COUNTED}) p) as packs, (
    select min(p.due) from unnest(:running::text[]) j (journey) cross join (values (false), (true)) a (awaits)
    cross join lateral (
        select due from pack where journey = j.journey and awaits = a.awaits and due <= :now order by due limit 1
    ) p
) as late_at
""")
_ASIDE: Final = Statement("""
select journey, sum(members)::bigint from (
    select journey, cardinality(members) as members from pack_aside
    union all select journey, 1 from journey_deed_aside
    union all select journey, 1 from journey_entry_aside where due_at is null
) a group by journey
""")


class JourneyState(NamedTuple):
    """Packs that wait, counted to `MOST_COUNTED` in a slice; since when the first wait of a journey that runs is over;
    and members who are set aside, by journey.
    """

    packs: int
    late_at: datetime | None
    aside: Mapping[str, int]


def told_of(state: JourneyState, now: datetime) -> Undelivered:
    members = sum(state.aside.values())
    figures = {"journey_packs": state.packs, "journeys_late_at": state.late_at, "journey_members_aside": members}
    told = f"{state.packs:,} packs wait, {members:,} members set aside"
    return Undelivered("journeys", told, figures, _problem(state, now))


def _problem(state: JourneyState, now: datetime) -> Problem | None:
    if state.aside:
        told = ", ".join(f"{name} ({members:,})" for name, members in sorted(state.aside.items()))
        remedy = "abacus journeys aside, and abacus journeys retry NAME once it is mended"
        fault = f"members of journeys are set aside: {told}"
        return Problem(fault, remedy, cause=Cause.NEEDS_SOMEBODY, about="journeys")
    if state.late_at is not None and now - state.late_at > _LATE_AFTER:
        return Problem(
            f"waits of journeys are over since {state.late_at:%Y-%m-%d %H:%M:%S} UTC, and nobody goes on",
            "see that the journeyer runs and reads its events, and its log",
            cause=Cause.NEEDS_SOMEBODY,
            about="journeys",
            since=state.late_at,
        )
    return None


async def journey_state(pool: Pool, now: datetime) -> JourneyState:
    """Of slices that can be reached. Raises `Unavailable`."""
    async with passing_failures():
        running = [row[0] for row in await pool.fetch(_RUNNING)]
    rows = await slices.rows_in_reach(pool, _WAITING(running=running, now=now))
    aside: dict[str, int] = {}
    for journey, members in await slices.rows_in_reach(pool, _ASIDE()):
        aside[journey] = aside.get(journey, 0) + members
    late_at = min((row["late_at"] for row in rows if row["late_at"] is not None), default=None)
    return JourneyState(sum(row["packs"] for row in rows), late_at, aside)


async def measure(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    now = clock.now()
    state = await journey_state(pool, now)
    JOURNEY_PACKS.set(state.packs)
    JOURNEY_LATE.set(0.0 if state.late_at is None else (now - state.late_at).total_seconds())
    set_series(JOURNEY_ASIDE, state.aside)


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    now = clock.now()
    return told_of(await journey_state(pool, now), now)


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
