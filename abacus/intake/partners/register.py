"""The register of what partners asked for: an entry is made before an award is sent, so that a key means one thing."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.ids import award_id
from abacus.core.sources import partner_source
from abacus.intake.partners.decide.entry import Entry
from abacus.ledger.store.partner_limits import asked_columns
from abacus.ledger.types.award import Award, Kind
from abacus.platform.postgres import Pool, passing_failures

_TAKEN_FOR: Final = timedelta(seconds=30)

_AWARD: Final = (
    "key, member_id, program, country, points, occurred_at, expires_on, activity, fingerprint, explanation, lifetime"
)
_ENTRIES: Final = """
select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
    $8::timestamptz[], $9::date[], $10::boolean[], $11::text[], $12::json[], $13::boolean[], $14::boolean[])
    as u (award_id, partner_id, key, member_id, program, country, points, occurred_at, expires_on, activity,
        fingerprint, explanation, lifetime, provisional)
"""
_COLUMNS: Final = f"award_id, partner_id, {_AWARD}, provisional"

# An entry that nobody is sending any more is taken over; its facts stay those of the first asking. What the ledger has
# under the key already, a movement or another award, is not entered. (As a subquery that is one look at an index each.)
_TAKE: Final = f"""
insert into partner_award as p ({_COLUMNS}, asked_at, taken_until)
select u.*, $15::timestamptz, $16::timestamptz from ({_ENTRIES}) as u
where not coalesce((select c.fingerprint <> u.fingerprint from claim c where c.key = u.key), false)
order by 1
on conflict (award_id) do update set taken_until = excluded.taken_until
    where p.queued_at is null and p.fingerprint = excluded.fingerprint
        and (p.taken_until is null or p.taken_until < excluded.asked_at)
returning award_id, xmax = 0 as is_new
"""

# Points that were a guess when they were entered, and never left, are those of the asking that sends them.
_COMPUTED_ANEW: Final = f"""
update partner_award p set program = u.program, points = u.points, expires_on = u.expires_on,
    explanation = u.explanation, lifetime = u.lifetime, provisional = u.provisional
from ({_ENTRIES}) as u where p.award_id = u.award_id and p.provisional
"""

_ENTER_QUEUED: Final = f"""
insert into partner_award as p ({_COLUMNS}, asked_at, queued_at)
select u.*, $15::timestamptz, $15::timestamptz from ({_ENTRIES}) as u order by 1
on conflict (award_id) do update set queued_at = excluded.queued_at, taken_until = null where p.queued_at is null
"""

_STATES: Final = """
select p.award_id, p.partner_id, p.key, p.member_id, p.program, p.country, p.points, p.occurred_at, p.expires_on,
    p.activity, p.fingerprint, p.explanation, p.lifetime, p.provisional, p.asked_at, p.queued_at, p.taken_until,
    c.fingerprint as posted_fingerprint, t.balance_after, t.posted_at, t.points as posted_points,
    t.explanation as posted_explanation,
    r.reason as rejection, r.detail as rejection_detail, r.rejected_at,
    q.reason as fault, q.detail as fault_detail
from partner_award p
left join claim c on c.key = p.key
left join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
left join rejection r on r.key = p.key
left join lateral (
    select reason, detail from quarantine q where q.key = p.key and q.status = 'held' and q.fingerprint = p.fingerprint
    order by set_aside_at desc limit 1
) q on true
where p.award_id = any($1::uuid[])
"""


class Reception(StrEnum):
    """What the register says of an entry that is brought to it."""

    OURS = "ours"  # to be sent, by whoever brought it
    QUEUED = "queued"  # the queue has had it before
    IN_FLIGHT = "in flight"  # another process is sending it
    OTHER_FACTS = "other facts"  # the key means something else


class Found(NamedTuple):
    """How an entry is received, and the award as it was first asked for; for `provisional` see `Entry`."""

    reception: Reception
    award: Award
    provisional: bool = False


class Status(StrEnum):
    """How far an award has come, as its partner is told."""

    QUEUED = "queued"
    POSTED = "posted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class State(NamedTuple):
    """An award as it is now."""

    award_id: UUID
    partner_id: str
    award: Award
    status: Status
    asked_at: datetime
    provisional: bool = False
    posted_at: datetime | None = None
    balance: int | None = None
    reason: str | None = None  # of a rejection, or of being set aside
    detail: str | None = None


class Register:
    """On Postgres. Every method raises `Unavailable`."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def take(self, entries: Sequence[Entry]) -> dict[UUID, Found]:
        """Enter what is new, and say for each what is to be done with it."""
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection:
            rows = await connection.fetch(_TAKE, *_columns(entries), now, now + _TAKEN_FOR)
            ours = {row["award_id"]: row["is_new"] for row in rows}
            taken_over = [entry for entry in entries if ours.get(entry.award_id) is False]
            if taken_over:
                await connection.execute(_COMPUTED_ANEW, *_columns(taken_over))
            found = {entry.award_id: _as_brought(entry, is_ours=entry.award_id in ours) for entry in entries}
            known = [id_ for id_ in found if not ours.get(id_)]
            if known:
                for row in await connection.fetch("select * from partner_award where award_id = any($1)", known):
                    id_ = row["award_id"]
                    found[id_] = _found(row, found[id_].award, is_ours=id_ in ours)
        return found

    async def awards_among(self, keys: Iterable[str]) -> set[str]:
        """Those keys that mean an award."""
        async with passing_failures():
            rows = await self._pool.fetch(
                "select key from partner_award where award_id = any($1::uuid[])", [award_id(key) for key in keys]
            )
        return {row["key"] for row in rows}

    async def queued(self, ids: Iterable[UUID]) -> None:
        """The queue has taken them."""
        async with passing_failures():
            await self._pool.execute(
                "update partner_award set queued_at = $2, taken_until = null"
                " where award_id = any($1) and queued_at is null",
                list(ids),
                self._clock.now(),
            )

    async def enter_queued(self, entries: Sequence[Entry]) -> None:
        """The queue has taken them, and they could not be entered before, or perhaps were."""
        async with passing_failures():
            await self._pool.execute(_ENTER_QUEUED, *_columns(entries), self._clock.now())

    async def release(self, ids: Iterable[UUID]) -> None:
        """The queue has not taken them: whoever asks again may send them at once."""
        async with passing_failures():
            await self._pool.execute(
                "update partner_award set taken_until = null where award_id = any($1) and queued_at is null", list(ids)
            )

    async def states(self, ids: Iterable[UUID]) -> Mapping[UUID, State]:
        """How far each has come; an id that nobody asked for is missing, and so is one that the queue did not take."""
        async with passing_failures():
            rows = await self._pool.fetch(_STATES, list(ids))
        now = self._clock.now()
        states = (_state(row, now) for row in rows)
        return {state.award_id: state for state in states if state is not None}


def _columns(entries: Sequence[Entry]) -> list[list[object]]:
    asked = asked_columns((entry.award_id, entry.partner_id, entry.award) for entry in entries)
    return [*asked, [entry.provisional for entry in entries]]


def _award(row: Any) -> Award:
    return Award(
        row["key"],
        row["member_id"],
        row["program"],
        row["country"],
        Kind.EARN,
        row["points"],
        row["occurred_at"],
        row["expires_on"],
        row["activity"],
        row["fingerprint"],
        row["explanation"],
        partner_source(row["partner_id"]),
        row["lifetime"],
    )


def _as_brought(entry: Entry, *, is_ours: bool) -> Found:
    """What is to be said of an entry that the register does not have; without one it is a movement's key."""
    return Found(Reception.OURS if is_ours else Reception.OTHER_FACTS, entry.award, entry.provisional)


def _found(row: Any, asked: Award, *, is_ours: bool) -> Found:
    first, provisional = _award(row), row["provisional"]
    if first.fingerprint != asked.fingerprint:
        return Found(Reception.OTHER_FACTS, first)
    if row["queued_at"] is not None:
        return Found(Reception.QUEUED, first, provisional)
    return Found(Reception.OURS if is_ours else Reception.IN_FLIGHT, first, provisional)


def _state(row: Any, now: datetime) -> State | None:
    """Nothing is known of an award that a process was to send and has not said that it did."""
    award = _award(row)
    known = State(row["award_id"], row["partner_id"], award, Status.QUEUED, row["asked_at"], row["provisional"])
    if row["posted_at"] is not None and row["posted_fingerprint"] == award.fingerprint:
        posted = award._replace(points=row["posted_points"], explanation=row["posted_explanation"])
        return known._replace(
            award=posted,
            status=Status.POSTED,
            provisional=False,
            posted_at=row["posted_at"],
            balance=row["balance_after"],
        )
    if row["rejection"] is not None:
        return known._replace(status=Status.REJECTED, reason=row["rejection"], detail=row["rejection_detail"])
    if row["fault"] is not None:
        return known._replace(status=Status.QUARANTINED, reason=row["fault"], detail=row["fault_detail"])
    is_being_sent = row["taken_until"] is not None and row["taken_until"] > now
    return known if row["queued_at"] is not None or is_being_sent else None
