"""The line of journeys in the state of things, and the metrics of what people have to look at."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import Cause, Problem, Undelivered
from abacus.documents.decide.states import Status
from abacus.engage.journeys.decide.orders import receiver_of
from abacus.engage.journeys.metrics import (
    JOURNEY_ASIDE,
    JOURNEY_LATE,
    JOURNEY_PACKS,
    JOURNEY_WAITING,
    JOURNEY_WAITING_FOR,
)
from abacus.platform import slices
from abacus.platform.measuring import set_series
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_LATE_AFTER: Final = timedelta(minutes=5)
MOST_COUNTED: Final = 100_000

_STATES: Final = """
select distinct on (name) name, status from journey where approved_at is not null order by name, version desc
"""
_WAITING: Final = Statement(f"""
select (select count(*) from (select from pack limit {MOST_COUNTED}) p) as packs, (
    select min(p.due) from unnest(:running::text[]) j (journey) cross join (values (false), (true)) a (awaits)
    cross join lateral (
        select due from pack where journey = j.journey and awaits = a.awaits and due <= :now order by due limit 1
    ) p
) as late_at
""")
# When an order was asked for is when it was decided; one that cannot be taken yet is put off, and due later.
_TO_DO: Final = Statement(f"""
select (select count(*) from (select from journey_deed limit {MOST_COUNTED}) d) as deeds, (
    select min(d.at) from unnest(:doing::text[]) j (journey) cross join lateral (
        select at from journey_deed where journey = j.journey order by at limit 1
    ) d
) as deeds_at, orders, orders_at
from (
    select count(*) as orders, min(decided_at) filter (where is_done) as orders_at
    from unnest(:receivers::text[], :are_done::boolean[]) as r (receiver, is_done)
    cross join lateral (
        select decided_at from action a where a.receiver = r.receiver and a.done_at is null and a.refused_at is null
        order by due_at limit {MOST_COUNTED}
    ) a
) o
""")
# An entry that could not be decided waits on purpose until it is tried again, and so does an event.
_LATE: Final = Statement(f"""
select (
    select count(*) from (select from journey_entry_aside where due_at is not null limit {MOST_COUNTED}) e
) as entries, (
    select min(e.due_at) from unnest(:running::text[]) j (journey) cross join lateral (
        select due_at from journey_entry_aside where journey = j.journey and due_at <= :now order by due_at limit 1
    ) e
) as entries_at
""")
_ASIDE: Final = Statement("""
select journey, sum(members)::bigint from (
    select journey, cardinality(members) as members from pack_aside
    union all select journey, 1 from journey_deed_aside
    union all select journey, 1 from journey_entry_aside where due_at is null
) a group by journey
""")


class Waiting(NamedTuple):
    """How much waits, counted to `MOST_COUNTED` in a slice, and since when the first has that a journeyer would do."""

    many: int = 0
    since: datetime | None = None


NOTHING: Final = Waiting()


class JourneyState(NamedTuple):
    """Packs that wait, counted to `MOST_COUNTED` in a slice; since when the first wait of a journey that runs is over;
    and how often members are set aside, by journey. `deeds` were decided for members together, and wait until they are
    actions; `orders` to start or end a visit wait for their journey; `entries`, and events that move members, wait
    to be tried again that could not be decided, and since a time nobody has.
    """

    packs: int
    late_at: datetime | None
    aside: Mapping[str, int]
    deeds: Waiting = NOTHING
    orders: Waiting = NOTHING
    entries: Waiting = NOTHING


def told_of(state: JourneyState, now: datetime) -> Undelivered:
    aside = sum(state.aside.values())
    figures = {
        "journey_packs": state.packs,
        "journeys_late_at": state.late_at,
        "journey_members_aside": aside,
        "journey_deeds": state.deeds.many,
        "journey_deeds_since": state.deeds.since,
        "journey_orders": state.orders.many,
        "journey_orders_since": state.orders.since,
        "journey_entries": state.entries.many,
        "journey_entries_since": state.entries.since,
    }
    told = (
        f"{state.packs:,} packs wait, {state.deeds.many:,} deeds and {state.orders.many:,} orders to be done,"
        f" {state.entries.many:,} entries and events to be decided, {aside:,} members set aside"
    )
    return Undelivered("journeys", told, figures, _problem(state, now))


def _problem(state: JourneyState, now: datetime) -> Problem | None:
    if state.aside:
        told = ", ".join(f"{name} ({members:,})" for name, members in sorted(state.aside.items()))
        remedy = "abacus journeys aside, and abacus journeys retry NAME once it is mended"
        fault = f"members of journeys are set aside: {told}"
        return Problem(fault, remedy, cause=Cause.NEEDS_SOMEBODY, about="journeys")
    late = {
        "waits of journeys are over since {}, and nobody goes on": state.late_at,
        "deeds of journeys wait since {}, and nobody does them": state.deeds.since,
        "entries to journeys, or ends of visits, wait since {}": state.orders.since,
        "entries or events of journeys that could not be decided wait since {}, untried": state.entries.since,
    }
    for fault, since in late.items():
        if since is not None and now - since > _LATE_AFTER:
            return Problem(
                fault.format(f"{since:%Y-%m-%d %H:%M:%S} UTC"),
                "see that the journeyer runs and reads its events, and its log",
                cause=Cause.NEEDS_SOMEBODY,
                about="journeys",
                since=since,
            )
    return None


async def journey_state(pool: Pool, now: datetime) -> JourneyState:
    """Of slices that can be reached. Raises `Unavailable`."""
    async with passing_failures():
        states = {name: Status(status) for name, status in await pool.fetch(_STATES)}
    # A journey that is paused stands still, and so does what waits in it; of an ended one the waits do.
    running = [name for name, status in states.items() if status is Status.APPROVED]
    doing = [name for name, status in states.items() if status in {Status.APPROVED, Status.ENDED}]
    rows = await slices.rows_in_reach(pool, _WAITING(running=running, now=now))
    to_do = await slices.rows_in_reach(
        pool,
        _TO_DO(
            doing=doing,
            receivers=[receiver_of(name) for name in states],
            are_done=[name in doing for name in states],
        ),
    )
    late = await slices.rows_in_reach(pool, _LATE(running=running, now=now))
    aside: dict[str, int] = {}
    for journey, members in await slices.rows_in_reach(pool, _ASIDE()):
        aside[journey] = aside.get(journey, 0) + members
    return JourneyState(
        sum(row["packs"] for row in rows),
        _first(row["late_at"] for row in rows),
        aside,
        Waiting(sum(row["deeds"] for row in to_do), _first(row["deeds_at"] for row in to_do)),
        Waiting(sum(row["orders"] for row in to_do), _first(row["orders_at"] for row in to_do)),
        Waiting(sum(row["entries"] for row in late), _first(row["entries_at"] for row in late)),
    )


def _first(times: Iterable[datetime | None]) -> datetime | None:
    return min((each for each in times if each is not None), default=None)


async def measure(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    now = clock.now()
    state = await journey_state(pool, now)
    JOURNEY_PACKS.set(state.packs)
    JOURNEY_LATE.set(_age(state.late_at, now))
    for what, waiting in {"deeds": state.deeds, "orders": state.orders, "entries": state.entries}.items():
        JOURNEY_WAITING.labels(what).set(waiting.many)
        JOURNEY_WAITING_FOR.labels(what).set(_age(waiting.since, now))
    set_series(JOURNEY_ASIDE, state.aside)


def _age(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else (now - since).total_seconds()


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    now = clock.now()
    return told_of(await journey_state(pool, now), now)


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
