"""Adjustments that need a second person: asked for, looked at by somebody else, then posted or rejected.

A small one is posted at once. The two never mix: what is pending has not touched the account.
"""

from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError
from abacus.core.ids import award_id
from abacus.core.sources import partner_source, person_source
from abacus.ledger.types.movement import Adjustment, Moved, Movement
from abacus.ledger.types.posting import Status
from abacus.platform.postgres import Pool, passing_failures


class Step(StrEnum):
    """How far an adjustment has come. What is approved is being posted, or was cut off while it was."""

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
            self.key,
            self.member_id,
            self.program,
            self.country,
            self.fingerprint,
            self.points,
            self.reason,
            self.actor,
            partner_source(self.asked_by) if self.asked_by is not None else person_source(self.actor),
            self.decided_by,
            self.expires_on,
            self.lifetime,
        )


class CannotDecide(AbacusError):
    """Not by this person, or not any more."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Mover(Protocol):
    """What posts one movement."""

    async def __call__(self, movement: Movement, /) -> Moved: ...


_COLUMNS: Final = ", ".join(Requested._fields)
_MOST: Final = 1000


class Adjustments:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, move: Mover, clock: Clock, *, limit: int) -> None:
        self._pool = pool
        self._move = move
        self._clock = clock
        self._limit = limit

    async def ask(self, asked: Adjustment, asked_by: str | None) -> Moved | Requested:
        """Post it, or where it is large keep it until a second person agrees. The same key gives the same again."""
        if abs(asked.points) <= self._limit:
            return await self._move(asked)
        id_ = award_id(asked.key)
        async with passing_failures():
            await self._pool.execute(
                "insert into adjustment (member_id, adjustment_id, key, program, country, points, expires_on, lifetime,"
                " reason, actor, asked_by, fingerprint, status, asked_at)"
                " values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'pending', $13) on conflict do nothing",
                asked.member_id,
                id_,
                asked.key,
                asked.program,
                asked.country,
                asked.points,
                asked.expires_on,
                asked.lifetime,
                asked.reason,
                asked.actor,
                asked_by,
                asked.fingerprint,
                self._clock.now(),
            )
        found = await self.find(id_)
        if found is None or found.fingerprint != asked.fingerprint:
            raise CannotDecide("idempotency-key-reused", "the key was used for another adjustment")
        return found

    async def find(self, adjustment_id: UUID) -> Requested | None:
        async with passing_failures():
            row = await self._pool.fetchrow(
                f"select {_COLUMNS} from adjustment where adjustment_id = $1", adjustment_id
            )
        return _requested(row) if row else None

    async def all(self, status: Step | None = None, countries: Sequence[str] = ()) -> list[Requested]:
        """The newest first, a thousand at most; in these countries, or in all."""
        async with passing_failures():
            rows = await self._pool.fetch(
                f"select {_COLUMNS} from adjustment where ($1::text is null or status = $1)"
                f" and (cardinality($2::text[]) = 0 or country = any($2)) order by asked_at desc limit {_MOST}",
                status,
                list(countries),
            )
        return [_requested(row) for row in rows]

    async def approve(self, adjustment_id: UUID, by: str) -> tuple[Requested, Moved]:
        """Raises `CannotDecide`; and `Declined` or `SetAside` when the account cannot take it: then it is rejected."""
        asked = await self._decide(adjustment_id, Step.APPROVED, by, None)
        moved = await self._move(asked.movement)
        if moved.status is Status.REFUSED and moved.fault is not None:
            await self._close(asked, Step.REJECTED, moved.fault.detail)
            raise moved.fault
        if moved.status is Status.CONFLICT:  # while it was pending, the key was used for something else
            fault = CannotDecide("idempotency-key-reused", f"{asked.key} was posted for something else meanwhile")
            await self._close(asked, Step.REJECTED, fault.detail)
            raise fault
        await self._close(asked, Step.POSTED, asked.note)
        return asked._replace(status=Step.POSTED), moved

    async def reject(self, adjustment_id: UUID, by: str, why: str) -> Requested:
        """Raises `CannotDecide`. Who asked may take it back."""
        return await self._decide(adjustment_id, Step.REJECTED, by, why)

    async def _decide(self, adjustment_id: UUID, step: Step, by: str, note: str | None) -> Requested:
        """One of two who decide at once wins. What one person approved and did not get posted may be approved again."""
        found = await self.find(adjustment_id)
        if found is None:
            raise CannotDecide("not-found", "there is no such adjustment")
        if step is Step.APPROVED and _same_person(found.actor, by):
            raise CannotDecide("second-person-needed", f"{found.actor} asked for it; somebody else has to approve it")
        async with passing_failures():
            row = await self._pool.fetchrow(
                "update adjustment set status = $3, decided_by = $4, decided_at = $5, note = $6"
                " where member_id = $1 and adjustment_id = $2 and (status = 'pending'"
                f" or status = 'approved' and $3 = 'approved' and decided_by = $4) returning {_COLUMNS}",
                found.member_id,
                adjustment_id,
                step,
                by,
                self._clock.now(),
                note,
            )
        if row is None:
            now = await self.find(adjustment_id) or found
            raise CannotDecide("adjustment-decided", f"it is {now.status}, by {now.decided_by}")
        return _requested(row)

    async def _close(self, asked: Requested, step: Step, note: str | None) -> None:
        async with passing_failures():
            await self._pool.execute(
                "update adjustment set status = $3, note = $4 where member_id = $1 and adjustment_id = $2",
                asked.member_id,
                asked.adjustment_id,
                step,
                note,
            )


def _same_person(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


def _requested(row: asyncpg.Record) -> Requested:
    return Requested(*row)
