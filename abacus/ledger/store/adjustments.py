"""Adjustments that need a second person: one person requests it, another approves or rejects it.

A small adjustment is posted at once. A pending adjustment has not touched the account.
"""

from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError
from abacus.core.ids import award_id
from abacus.core.sources import partner_source, person_source
from abacus.ledger.types.movement import Adjustment, Moved, Movement
from abacus.ledger.types.posting import Status
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters


class Step(StrEnum):
    """How far an adjustment has come. An approved one is being posted, or its posting was cut off."""

    PENDING = "pending"
    APPROVED = "approved"
    POSTED = "posted"
    REJECTED = "rejected"


class Requested(NamedTuple):
    """An adjustment that needs, or needed, a second person."""

    member_id: str
    adjustment_id: UUID
    key: str
    program: str
    country: str
    points: int
    expires_on: date
    lifetime: bool
    reason: str
    actor: str
    asked_by: str | None
    fingerprint: str
    status: str
    asked_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    note: str | None

    @property
    def movement(self) -> Adjustment:
        return Adjustment(
            key=self.key,
            member_id=self.member_id,
            program=self.program,
            country=self.country,
            fingerprint=self.fingerprint,
            points=self.points,
            reason=self.reason,
            actor=self.actor,
            source=partner_source(self.asked_by) if self.asked_by is not None else person_source(self.actor),
            approved_by=self.decided_by,
            expires_on=self.expires_on,
            lifetime=self.lifetime,
        )

    @classmethod
    def of(cls, adjustment: Adjustment, asked_by: str | None, now: datetime) -> "Requested":
        return cls(
            member_id=adjustment.member_id,
            adjustment_id=award_id(adjustment.key),
            key=adjustment.key,
            program=adjustment.program,
            country=adjustment.country,
            points=adjustment.points,
            expires_on=adjustment.expires_on,
            lifetime=adjustment.lifetime,
            reason=adjustment.reason,
            actor=adjustment.actor,
            asked_by=asked_by,
            fingerprint=adjustment.fingerprint,
            status=Step.PENDING,
            asked_at=now,
            decided_by=None,
            decided_at=None,
            note=None,
        )


class CannotDecide(AbacusError):
    """Not by this person, or not any more."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Mover(Protocol):
    """Posts one movement."""

    async def __call__(self, movement: Movement, /) -> Moved: ...


_MOST: Final = 1000

_KEEP: Final = Statement(f"""
insert into adjustment ({columns(Requested)}) values ({parameters(Requested)}) on conflict do nothing
""")

_FIND: Final = Statement(f"select {columns(Requested)} from adjustment where adjustment_id = :adjustment_id")

_ALL: Final = Statement(f"""
select {columns(Requested)} from adjustment
where (:status::text is null or status = :status) and (cardinality(:countries::text[]) = 0 or country = any(:countries))
order by asked_at desc limit {_MOST}
""")

_DECIDE: Final = Statement(f"""
update adjustment set status = :step, decided_by = :by, decided_at = :now, note = :note
where member_id = :member_id and adjustment_id = :adjustment_id
    and (status = 'pending' or status = 'approved' and :step = 'approved' and decided_by = :by)
returning {columns(Requested)}
""")

_CLOSE: Final = Statement("""
update adjustment set status = :step, note = :note where member_id = :member_id and adjustment_id = :adjustment_id
""")


class Adjustments:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, move: Mover, clock: Clock, *, limit: int) -> None:
        self._pool = pool
        self._move = move
        self._clock = clock
        self._limit = limit

    async def ask(self, adjustment: Adjustment, asked_by: str | None) -> Moved | Requested:
        """Post it, or where it is large keep it until a second person agrees. The same key gives the same again."""
        if abs(adjustment.points) <= self._limit:
            return await self._move(adjustment)
        request = Requested.of(adjustment, asked_by, self._clock.now())
        async with passing_failures():
            await self._pool.execute(*_KEEP(**request._asdict()))
        kept = await self.find(request.adjustment_id)
        if kept is None or kept.fingerprint != adjustment.fingerprint:
            raise CannotDecide("idempotency-key-reused", "the key was used for another adjustment")
        return kept

    async def find(self, adjustment_id: UUID) -> Requested | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(adjustment_id=adjustment_id))
        return Requested(*row) if row else None

    async def all(self, status: Step | None = None, countries: Sequence[str] = ()) -> list[Requested]:
        """The newest first, a thousand at most; in these countries, or in all."""
        async with passing_failures():
            rows = await self._pool.fetch(*_ALL(status=status, countries=list(countries)))
        return [Requested(*row) for row in rows]

    async def approve(self, adjustment_id: UUID, by: str) -> tuple[Requested, Moved]:
        """Raises `CannotDecide`; and `Declined` or `SetAside` when the account cannot take it: then it is rejected."""
        approved = await self._decide(adjustment_id, Step.APPROVED, by, None)
        moved = await self._move(approved.movement)
        if moved.status is Status.REFUSED and moved.fault is not None:
            await self._close(approved, Step.REJECTED, moved.fault.detail)
            raise moved.fault
        if moved.status is Status.CONFLICT:  # while it was pending, the key was used for something else
            fault = CannotDecide("idempotency-key-reused", f"{approved.key} was posted for something else meanwhile")
            await self._close(approved, Step.REJECTED, fault.detail)
            raise fault
        await self._close(approved, Step.POSTED, approved.note)
        return approved._replace(status=Step.POSTED), moved

    async def reject(self, adjustment_id: UUID, by: str, why: str) -> Requested:
        """Raises `CannotDecide`. The person who requested it may withdraw it."""
        return await self._decide(adjustment_id, Step.REJECTED, by, why)

    async def _decide(self, adjustment_id: UUID, step: Step, by: str, note: str | None) -> Requested:
        """One of two who decide at once wins. A person whose approval did not get posted may approve again."""
        request = await self.find(adjustment_id)
        if request is None:
            raise CannotDecide("not-found", "there is no such adjustment")
        if step is Step.APPROVED and _same_person(request.actor, by):
            raise CannotDecide("second-person-needed", f"{request.actor} asked for it; somebody else has to approve it")
        values = {"member_id": request.member_id, "adjustment_id": adjustment_id, "step": step, "by": by, "note": note}
        async with passing_failures():
            row = await self._pool.fetchrow(*_DECIDE(**values, now=self._clock.now()))
        if row is None:
            now = await self.find(adjustment_id) or request
            raise CannotDecide("adjustment-decided", f"it is {now.status}, by {now.decided_by}")
        return Requested(*row)

    async def _close(self, request: Requested, step: Step, note: str | None) -> None:
        values = {"member_id": request.member_id, "adjustment_id": request.adjustment_id, "step": step, "note": note}
        async with passing_failures():
            await self._pool.execute(*_CLOSE(**values))


def _same_person(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()
