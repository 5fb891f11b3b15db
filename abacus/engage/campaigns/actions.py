"""Actions of campaigns that wait in Postgres for their time.

Those of one receiver are taken in batches, longest due first, and stay locked while they are done: no other process
takes them, and when this one dies they are free again. What was done twice for that reason has the same keys.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.platform.delivery.types import Backlog
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested


class Waiting(NamedTuple):
    """An action whose time has come. `event` is there where a guard has to be looked at."""

    member_id: str
    key: str
    number: int
    campaign: str
    version: int
    step: int
    decided_at: datetime
    document: bytes
    event: bytes | None


class Ended(NamedTuple):
    """An action that is done, or with a reason one that never will be."""

    member_id: str
    key: str
    number: int
    reason: str | None


class _Place(NamedTuple):
    """The key of an action."""

    member_id: str
    key: str
    number: int


class Batch(NamedTuple):
    """Actions that are locked, and the transaction that holds them."""

    connection: Connection
    actions: Sequence[Waiting]


_TAKE: Final = Statement(f"""
select {columns(Waiting)} from campaign_action
where receiver = :receiver and done_at is null and refused_at is null and due_at <= :now
order by due_at limit :most for update skip locked
""")
_END: Final = Statement(f"""
update campaign_action a set
    done_at = case when u.reason is null then :now::timestamptz end,
    refused_at = case when u.reason is not null then :now::timestamptz end, reason = u.reason
from {unnested(Ended, reason="text")}
where a.member_id = u.member_id and a.key = u.key and a.number = u.number
""")
_PUT_OFF: Final = Statement(f"""
update campaign_action a set due_at = :due_at
from {unnested(_Place)}
where a.member_id = u.member_id and a.key = u.key and a.number = u.number
""")
_BACKLOG: Final = Statement("""
select count(*), min(due_at) from campaign_action
where receiver = :receiver and done_at is null and refused_at is null and due_at <= :now
""")
_NEXT: Final = Statement("""
select min(due_at) from campaign_action where receiver = :receiver and done_at is null and refused_at is null
""")


class ActionStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    @asynccontextmanager
    async def taken(self, receiver: str, most: int) -> AsyncIterator[Batch]:
        """Actions of a receiver that are due. They stay locked until the end; after an error they are as before."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(*_TAKE(receiver=receiver, now=self._clock.now(), most=most))
            yield Batch(connection, [Waiting(*row) for row in rows])

    async def end(self, batch: Batch, done: Collection[Waiting], refused: Mapping[Waiting, str]) -> None:
        """Some actions of the batch are done, and some are refused, with the reason."""
        ended = [Ended(each.member_id, each.key, each.number, refused.get(each)) for each in [*done, *refused]]
        await batch.connection.execute(*_END(**arrays(Ended, ended), now=self._clock.now()))

    async def put_off(self, batch: Batch, actions: Collection[Waiting], by: timedelta) -> None:
        """These are due later. They stay as they are otherwise."""
        later = [_Place(each.member_id, each.key, each.number) for each in actions]
        await batch.connection.execute(*_PUT_OFF(**arrays(_Place, later), due_at=self._clock.now() + by))

    async def backlog(self, receiver: str) -> Backlog:
        """The actions of a receiver that are due."""
        async with passing_failures():
            row = await self._pool.fetchrow(*_BACKLOG(receiver=receiver, now=self._clock.now()))
        return Backlog(row[0], row[1])

    async def next_in(self, receiver: str) -> timedelta | None:
        """How long until the next action of a receiver is due; None when nothing waits."""
        async with passing_failures():
            due_at = await self._pool.fetchval(*_NEXT(receiver=receiver))
        return None if due_at is None else due_at - self._clock.now()
