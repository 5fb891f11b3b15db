"""The register of partners' awards: an award is entered before it is sent, so that its key means one thing."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from itertools import chain
from typing import Any, Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.ids import award_id
from abacus.intake.partners.decide.entry import Entry
from abacus.ledger.store.key_search import claims_of, parts_of
from abacus.ledger.store.partner_awards import PARTNER_AWARD_COLUMNS, PARTNER_AWARD_ROWS, PartnerAward
from abacus.ledger.types.award_envelope import Award
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, array, arrays, column, columns, row_of
from abacus.pricing.explanation.sql import text

_TAKEN_FOR: Final = timedelta(seconds=30)

# An entry that nobody is sending any more is taken over; it keeps the facts of the first request.
_TAKE: Final = f"""
insert into partner_award as p ({PARTNER_AWARD_COLUMNS})
select u.* from {PARTNER_AWARD_ROWS} where {{condition}} order by u.award_id
on conflict (award_id) do update set taken_until = excluded.taken_until
    where p.queued_at is null and p.fingerprint = excluded.fingerprint
        and (p.taken_until is null or p.taken_until < excluded.asked_at)
returning award_id, xmax = 0 as is_new
"""

# What the ledger has under the key already, a movement or another award, is not entered, nor a transaction that has its
# award. Partners wait for this: one statement, where the claims lie beside it. (As subqueries these are one look at an
# index each.) Elsewhere `Register._unclaimed` looks first.
_TAKE_UNCLAIMED: Final = Statement(
    _TAKE.format(
        condition=f"""
    not coalesce((select c.fingerprint <> u.fingerprint from claim c where c.key = u.key), false)
    and not exists (select from claim c where c.key = {text("transaction", "u")})"""
    )
)
_TAKE_ALL: Final = Statement(_TAKE.format(condition="true"))

# Provisional points that were never sent are replaced by the points of the request that sends them.
_COMPUTED_ANEW: Final = Statement(f"""
update partner_award p set program = u.program, points = u.points, expires_on = u.expires_on,
    explanation = u.explanation, lifetime = u.lifetime, provisional = u.provisional
from {PARTNER_AWARD_ROWS} where p.award_id = u.award_id and p.provisional
""")

_IDS: Final = array("ids", "uuid")

_KNOWN: Final = Statement(f"select {PARTNER_AWARD_COLUMNS} from partner_award where award_id = any({_IDS})")

# The award that each of these transactions has.
_AWARDED: Final = Statement("""
select c.key as transaction, t.key from claim c
join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
where c.key = any(:keys::text[])
""")

_KEYS_AMONG: Final = Statement(f"select key from partner_award where award_id = any({_IDS})")

_QUEUED: Final = Statement(f"""
update partner_award set queued_at = :now, taken_until = null
where award_id = any({_IDS}) and queued_at is null
""")

_ENTER_QUEUED: Final = Statement(f"""
insert into partner_award as p ({PARTNER_AWARD_COLUMNS})
select u.* from {PARTNER_AWARD_ROWS} order by u.award_id
on conflict (award_id) do update set queued_at = excluded.queued_at, taken_until = null where p.queued_at is null
""")

_RELEASE: Final = Statement(f"""
update partner_award set taken_until = null where award_id = any({_IDS}) and queued_at is null
""")


class _Posted(NamedTuple):
    """What the ledger has under an award's key."""

    posted_fingerprint: str | None
    posted_at: datetime | None
    posted_points: int
    posted_explanation: bytes
    posted_expires_on: date
    balance_after: int


_NOTHING: Final = _Posted(None, None, 0, b"", date.min, 0)


class _Rejected(NamedTuple):
    """Why the ledger rejected an award, if it did."""

    rejection: str | None
    rejection_detail: str


_NOT_REJECTED: Final = _Rejected(None, "")


class _SetAside(NamedTuple):
    """Why an award was set aside, if it was."""

    fault: str | None
    fault_detail: str


_POSTED_COLUMNS: Final = """c.fingerprint as posted_fingerprint, t.posted_at, t.points as posted_points,
    t.explanation as posted_explanation, t.expires_on as posted_expires_on, t.balance_after"""
_REJECTED_COLUMNS: Final = "r.reason as rejection, r.detail as rejection_detail"
_TRANSFER: Final = "transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq"

_ENTERED: Final = f"""
select {columns(PartnerAward, "p")}, q.reason as fault, q.detail as fault_detail{{more}}
from partner_award p
left join lateral (
    select reason, detail from quarantine q where q.key = p.key and q.status = 'held' and q.fingerprint = p.fingerprint
    order by set_aside_at desc limit 1
) q on true{{joined}}
where p.award_id = any({_IDS})
"""

# Partners wait for this too: one statement, where all lies in one place.
_STATES: Final = Statement(
    _ENTERED.format(
        more=f", {_POSTED_COLUMNS}, {_REJECTED_COLUMNS}",
        joined=f" left join rejection r on r.key = p.key left join claim c on c.key = p.key left join {_TRANSFER}",
    )
)
_STATES_ENTERED: Final = Statement(_ENTERED.format(more="", joined=""))
_POSTED: Final = Statement(f"""
select c.key, {_POSTED_COLUMNS} from claim c join {_TRANSFER} where c.key = any(:keys::text[])
""")
_REJECTED: Final = Statement(f"select r.key, {_REJECTED_COLUMNS} from rejection r where r.key = any(:keys::text[])")


class Reception(StrEnum):
    """The answer of the register to a new entry."""

    OURS = "ours"  # the caller has to send it
    QUEUED = "queued"  # the queue has had it before
    IN_FLIGHT = "in flight"  # another process is sending it
    OTHER_FACTS = "other facts"  # the key means something else
    AWARDED = "awarded"  # the transaction has its award, under another key


class RegisterAnswer(NamedTuple):
    """The reception of an entry, and the award of the first request; for `provisional` see `Entry`. `awarded_as` is the
    key of the award that the transaction has.
    """

    reception: Reception
    award: Award
    provisional: bool = False
    awarded_as: str | None = None


class AwardStatus(StrEnum):
    """The progress of an award, in the words for its partner."""

    QUEUED = "queued"
    POSTED = "posted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class AwardState(NamedTuple):
    """An award and its progress."""

    award_id: UUID
    partner_id: str
    award: Award
    status: AwardStatus
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

    async def take(self, entries: Sequence[Entry]) -> dict[UUID, RegisterAnswer]:
        """Enters new awards, and returns for each entry how to go on."""
        now = self._clock.now()
        if await slices.in_one_place(self._pool):
            take, entered = _TAKE_UNCLAIMED, entries
        else:
            take, entered = _TAKE_ALL, await self._unclaimed(entries)
        new = [_row(entry, now, taken_until=now + _TAKEN_FOR) for entry in entered]
        async with passing_failures(), self._pool.acquire() as connection:
            taken = await connection.fetch(*take(**arrays(PartnerAward, new)))
            ours = {row["award_id"]: row["is_new"] for row in taken}
            taken_over = [row for row in new if ours.get(row.award_id) is False]
            if taken_over:
                await connection.execute(*_COMPUTED_ANEW(**arrays(PartnerAward, taken_over)))
            answers = {entry.award_id: _as_brought(entry, is_ours=entry.award_id in ours) for entry in entries}
            known = [id_ for id_ in answers if not ours.get(id_)]
            rows = await connection.fetch(*_KNOWN(ids=column(known))) if known else ()
        for row in map(PartnerAward._make, rows):
            fingerprint = answers[row.award_id].award.fingerprint
            answers[row.award_id] = _as_known(row, fingerprint, is_ours=row.award_id in ours)
        others = set(known).difference(row["award_id"] for row in rows)
        return answers | await self._awarded({id_: answers[id_] for id_ in others})

    async def awards_among(self, keys: Iterable[str]) -> set[str]:
        """The keys that are keys of awards."""
        async with passing_failures():
            rows = await self._pool.fetch(*_KEYS_AMONG(ids=column(award_id(key) for key in keys)))
        return {row["key"] for row in rows}

    async def queued(self, ids: Iterable[UUID]) -> None:
        """Notes that the queue took the awards."""
        async with passing_failures():
            await self._pool.execute(*_QUEUED(ids=column(ids), now=self._clock.now()))

    async def enter_queued(self, entries: Sequence[Entry]) -> None:
        """Enters awards that the queue took while they could not be entered, and notes on existing entries that the
        queue took them.
        """
        now = self._clock.now()
        async with passing_failures():
            rows = [_row(entry, now, queued_at=now) for entry in entries]
            await self._pool.execute(*_ENTER_QUEUED(**arrays(PartnerAward, rows)))

    async def release(self, ids: Iterable[UUID]) -> None:
        """Notes that the queue did not take the awards: the next request under the key may send them at once."""
        async with passing_failures():
            await self._pool.execute(*_RELEASE(ids=column(ids)))

    async def states(self, ids: Iterable[UUID]) -> Mapping[UUID, AwardState]:
        """The progress of each award; unknown ids are left out, and so are awards that the queue did not take."""
        is_joined = await slices.in_one_place(self._pool)
        async with passing_failures():
            rows = await self._pool.fetch(*(_STATES if is_joined else _STATES_ENTERED)(ids=column(ids)))
        entered = [row_of(PartnerAward, row) for row in rows]
        posted_rows = rejected_rows = rows
        if not is_joined:  # another member's transfer under the key would be of other facts, so it is no matter
            posted_rows = await self._rows_under(entered, _POSTED)
            rejected_rows = await self._rows_under(entered, _REJECTED)
        posted = {row["key"]: row_of(_Posted, row) for row in posted_rows}
        rejected = {row["key"]: row_of(_Rejected, row) for row in rejected_rows}
        now = self._clock.now()
        states = (
            _state(
                row,
                posted.get(row.key, _NOTHING),
                rejected.get(row.key, _NOT_REJECTED),
                row_of(_SetAside, record),
                now,
            )
            for row, record in zip(entered, rows, strict=True)
        )
        return {state.award_id: state for state in states if state is not None}

    async def _rows_under(self, entered: Sequence[PartnerAward], statement: Statement) -> Sequence[Any]:
        def under(part: Sequence[PartnerAward]) -> tuple[Any, ...]:
            return statement(keys=[row.key for row in part])

        fetch = slices.fetched_by(under)
        return list(chain.from_iterable((await slices.split(self._pool, entered, fetch, patience_s=None)).whole()))

    async def _unclaimed(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that `_TAKE_UNCLAIMED` would enter."""
        transactions = {entry.award.transaction.key for entry in entries if entry.award.transaction}
        claims = await claims_of(self._pool, {entry.award.key for entry in entries} | transactions)
        return [
            entry
            for entry in entries
            if (entry.award.key not in claims or claims[entry.award.key].fingerprint == entry.award.fingerprint)
            and not (entry.award.transaction and entry.award.transaction.key in claims)
        ]

    async def _awarded(self, answers: Mapping[UUID, RegisterAnswer]) -> dict[UUID, RegisterAnswer]:
        """The answers for transactions that have their award, of entries that were not made."""
        transactions = {id_: each.award.transaction.key for id_, each in answers.items() if each.award.transaction}
        if not transactions:
            return {}
        parts = await parts_of(self._pool, transactions.values())
        found = await slices.in_slices(
            self._pool, parts, slices.fetched_by(lambda keys: _AWARDED(keys=keys)), patience_s=None
        )
        awarded = {row["transaction"]: row["key"] for row in chain.from_iterable(found.whole())}
        return {
            id_: answers[id_]._replace(reception=Reception.AWARDED, awarded_as=awarded[key])
            for id_, key in transactions.items()
            if key in awarded
        }


def _row(
    entry: Entry, now: datetime, *, queued_at: datetime | None = None, taken_until: datetime | None = None
) -> PartnerAward:
    return PartnerAward.of(
        entry.award_id,
        entry.partner_id,
        entry.award,
        asked_at=now,
        provisional=entry.provisional,
        queued_at=queued_at,
        taken_until=taken_until,
    )


def _as_brought(entry: Entry, *, is_ours: bool) -> RegisterAnswer:
    """The answer for an entry without an earlier row: it is new, or its key is a movement's. Where its transaction has
    its award, `_awarded` knows better.
    """
    return RegisterAnswer(Reception.OURS if is_ours else Reception.OTHER_FACTS, entry.award, entry.provisional)


def _as_known(row: PartnerAward, fingerprint: str, *, is_ours: bool) -> RegisterAnswer:
    """The answer for a key that has a row; `fingerprint` is that of the caller's facts."""
    if row.fingerprint != fingerprint:
        return RegisterAnswer(Reception.OTHER_FACTS, row.award)
    if row.queued_at is not None:
        return RegisterAnswer(Reception.QUEUED, row.award, row.provisional)
    return RegisterAnswer(Reception.OURS if is_ours else Reception.IN_FLIGHT, row.award, row.provisional)


def _state(
    row: PartnerAward, posted: _Posted, rejected: _Rejected, set_aside: _SetAside, now: datetime
) -> AwardState | None:
    """The state of an award; None if it is neither decided nor on the queue, and no process is sending it."""
    known = AwardState(row.award_id, row.partner_id, row.award, AwardStatus.QUEUED, row.asked_at, row.provisional)
    if posted.posted_at is not None and posted.posted_fingerprint == row.fingerprint:
        return known._replace(
            award=row.award._replace(
                points=posted.posted_points,
                expires_on=posted.posted_expires_on,
                explanation=posted.posted_explanation,
            ),
            status=AwardStatus.POSTED,
            provisional=False,
            posted_at=posted.posted_at,
            balance=posted.balance_after,
        )
    if rejected.rejection is not None:
        return known._replace(status=AwardStatus.REJECTED, reason=rejected.rejection, detail=rejected.rejection_detail)
    if set_aside.fault is not None:
        return known._replace(status=AwardStatus.QUARANTINED, reason=set_aside.fault, detail=set_aside.fault_detail)
    is_being_sent = row.taken_until is not None and row.taken_until > now
    return known if row.queued_at is not None or is_being_sent else None
