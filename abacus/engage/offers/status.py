"""The line of offers in the state of things, and the metrics of what people have to look at."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import Cause, Problem, Undelivered
from abacus.documents.decide.states import Status
from abacus.engage.actions.types import AWARDS
from abacus.engage.limits.decide.pots import EVER
from abacus.engage.offers.decide.offer import OWNER_KIND
from abacus.engage.offers.decide.reservation import ReservationStatus
from abacus.engage.offers.metrics import OFFER_AWARDS_SECONDS, OFFER_OVERDUE_SECONDS, OFFER_RESERVATIONS_HELD
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_OVERDUE_AFTER: Final = timedelta(minutes=1)  # sweepers look each second
_AWARDS_AFTER: Final = timedelta(minutes=5)
MOST_COUNTED: Final = 100_000

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


class OfferState(NamedTuple):
    """Offers in force, and how many of them have no budget left; reservations that wait, counted to `MOST_COUNTED` in a
    slice, and since when the first one is over that nobody has let go; awards of points that are due.
    """

    in_force: int
    spent: int
    held: int
    oldest_at: datetime | None
    overdue_at: datetime | None
    awards: int
    award_at: datetime | None


def told_of(state: OfferState, now: datetime) -> Undelivered:
    figures = {
        "offers_in_force": state.in_force,
        "offers_spent": state.spent,
        "reservations": state.held,
        "oldest_reservation_at": state.oldest_at,
        "overdue_reservation_at": state.overdue_at,
        "offer_awards": state.awards,
        "oldest_offer_award_at": state.award_at,
    }
    since = f", the oldest since {state.oldest_at:%Y-%m-%d %H:%M:%S} UTC" if state.oldest_at else ""
    told = (
        f"{state.in_force:,} in force, {state.spent:,} spent, {state.held:,} reservations wait{since},"
        f" {state.awards:,} awards wait"
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
    return told_of(await offer_state(pool, now), now)


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
