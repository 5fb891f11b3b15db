"""The line of offers in the state of things, and the metrics of what people have to look at."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

import orjson

from abacus.core.clock import Clock
from abacus.core.fields import DocumentFaults
from abacus.core.status import Cause, Problem, Undelivered
from abacus.documents.decide.states import Status
from abacus.documents.directory import read_moment
from abacus.engage.actions.types import AWARDS
from abacus.engage.downstreams.decide.question import EXTERNAL
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.limits.decide.pots import EVER
from abacus.engage.offers.decide.offer import OWNER_KIND
from abacus.engage.offers.decide.reservation import ReservationStatus
from abacus.engage.offers.decide.vocabulary import compiled
from abacus.engage.offers.metrics import OFFER_AWARDS_SECONDS, OFFER_OVERDUE_SECONDS, OFFER_RESERVATIONS_HELD
from abacus.engage.offers.publications import rule_publications
from abacus.platform import slices
from abacus.platform.loop_turn import LoopTurn
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.rules.decide.document import restore_document

_OVERDUE_AFTER: Final = timedelta(minutes=1)  # sweepers look each second
_AWARDS_AFTER: Final = timedelta(minutes=5)
MOST_COUNTED: Final = 100_000
_NOTHING_UNFIT: Final[Mapping[str, str]] = MappingProxyType({})

_IN_FORCE: Final = Statement(f"""
select count(*) as in_force, count(*) filter (where exists (
        select from offer_spent s where s.offer = o.name
            and s.period in ('{EVER}', (:now::timestamptz at time zone (o.document ->> 'timezone'))::date::text)
    )) as spent
from offer o where status = '{Status.APPROVED}' and starts_at <= :now and ends_at > :now
""")
_HELD: Final = f"status = '{ReservationStatus.HELD}'"
_WAITING: Final = Statement(f"""
select (select count(*) from (select from offer_reservation where {_HELD} limit {MOST_COUNTED}) h) as held,
    (select reserved_at from offer_reservation where {_HELD} order by until limit 1) as oldest_at,
    (select min(until) from offer_reservation where {_HELD} and until <= :now) as overdue_at,
    a.awards, a.award_at
from (
    select count(*) as awards, min(due_at) as award_at from action
    where receiver = '{AWARDS}' and done_at is null and refused_at is null and due_at <= :now
        and owner_kind = '{OWNER_KIND}'
) a
""")

# Rules that something published beside them can make unfit, and the offers that have each.
_RULES: Final = Statement(f"""
select document ->> 'when', array_agg(name order by name) from offer
where status = '{Status.APPROVED}' and ends_at > :now
    and document ->> 'when' ~ '"({COUNTER.name}|{EXTERNAL.name})[.]' group by 1
""")


class OfferState(NamedTuple):
    """Offers in force, and how many of them have no budget left; reservations that wait, counted to `MOST_COUNTED` in a
    slice, and since when the first one is over that nobody has let go; awards of points that are due. `unfit` has the
    offers whose rule does not fit what is published, each with the fault.
    """

    in_force: int
    spent: int
    held: int
    oldest_at: datetime | None
    overdue_at: datetime | None
    awards: int
    award_at: datetime | None
    unfit: Mapping[str, str] = _NOTHING_UNFIT


def told_of(state: OfferState, now: datetime) -> Undelivered:
    figures = {
        "offers_in_force": state.in_force,
        "offers_spent": state.spent,
        "offers_unfit": len(state.unfit),
        "reservations": state.held,
        "oldest_reservation_at": state.oldest_at,
        "overdue_reservation_at": state.overdue_at,
        "offer_awards": state.awards,
        "oldest_offer_award_at": state.award_at,
    }
    since = f", the oldest since {state.oldest_at:%Y-%m-%d %H:%M:%S} UTC" if state.oldest_at else ""
    told = (
        f"{state.in_force:,} in force, {state.spent:,} spent, {len(state.unfit):,} unfit,"
        f" {state.held:,} reservations wait{since}, {state.awards:,} awards wait"
    )
    return Undelivered("offers", told, figures, _problem(state, now))


def _problem(state: OfferState, now: datetime) -> Problem | None:
    if state.overdue_at is not None and now - state.overdue_at > _OVERDUE_AFTER:
        fault = f"reservations are over since {state.overdue_at:%Y-%m-%d %H:%M:%S} UTC, and nobody lets them go"
        return Problem(
            fault,
            "see that a worker offers runs, and its log",
            cause=Cause.NEEDS_SOMEBODY,
            about="offers",
            since=state.overdue_at,
        )
    if state.award_at is not None and now - state.award_at > _AWARDS_AFTER:
        fault = f"{state.awards:,} awards of offers wait since {state.award_at:%Y-%m-%d %H:%M:%S} UTC"
        remedy = "see that the campaigner runs, which hands them over, and its log"
        return Problem(fault, remedy, cause=Cause.NEEDS_SOMEBODY, about="offers", since=state.award_at)
    if state.unfit:
        name, why = min(state.unfit.items())
        others = f", and {len(state.unfit) - 1:,} more" if len(state.unfit) > 1 else ""
        fault = f"nobody gets offers whose rules do not fit what is published: {name} ({why}){others}"
        remedy = "publish what the rule names, or another version of the offer; or end it"
        return Problem(fault, remedy, cause=Cause.NEEDS_SOMEBODY, about="offers")
    return None


async def offer_state(pool: Pool, now: datetime) -> OfferState:
    """Of slices that can be reached. Raises `Unavailable`."""
    async with passing_failures():
        offers = await pool.fetchrow(*_IN_FORCE(now=now))
    rows = await slices.rows_in_reach(pool, _WAITING(now=now))

    def first(column: str) -> datetime | None:
        return min((row[column] for row in rows if row[column] is not None), default=None)

    return OfferState(
        offers["in_force"],
        offers["spent"],
        sum(row["held"] for row in rows),
        first("oldest_at"),
        first("overdue_at"),
        sum(row["awards"] for row in rows),
        first("award_at"),
    )


async def unfit_offers(pool: Pool, now: datetime) -> Mapping[str, str]:
    """Offers in force whose rule does not fit what is published, each with the first fault. Raises `Unavailable`."""
    around = rule_publications(await read_moment(pool, COUNTERS, DOWNSTREAMS), now)
    async with passing_failures():
        rows = await pool.fetch(*_RULES(now=now))
    unfit, turn = dict[str, str](), LoopTurn()
    for written, names in rows:
        try:
            compiled(restore_document(orjson.loads(written)), around)
        except DocumentFaults as error:
            unfit |= dict.fromkeys(names, str(error.faults[0]))
        await turn.rest()
    return unfit


async def measure(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    now = clock.now()
    state = await offer_state(pool, now)
    OFFER_RESERVATIONS_HELD.set(state.held)
    OFFER_OVERDUE_SECONDS.set(_age_s(state.overdue_at, now))
    OFFER_AWARDS_SECONDS.set(_age_s(state.award_at, now))


def _age_s(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else (now - since).total_seconds()


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    now = clock.now()
    state = await offer_state(pool, now)
    return told_of(state._replace(unfit=await unfit_offers(pool, now)), now)


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
