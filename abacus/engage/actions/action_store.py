"""Actions that wait in Postgres for their time.

Due actions of one receiver and slice are taken in batches, longest due first, and stay locked while they are done: no
other process takes them, and when this one dies they are free again. An action that was done twice for that reason has
the same key.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import asyncpg

from abacus.core.clock import Clock
from abacus.engage.actions.types import DueAction, PlannedAction
from abacus.platform import slices
from abacus.platform.delivery.types import Backlog
from abacus.platform.postgres import Connection, Pool, is_duplicate
from abacus.platform.sql import Statement, arrays, columns, parameters, unnested


class _Ended(NamedTuple):
    """An action that is done, or never will be: that has a reason."""

    member_id: str
    key: str
    number: int
    reason: str | None


class _Key(NamedTuple):
    """The key of an action."""

    member_id: str
    key: str
    number: int


class Batch(NamedTuple):
    """Actions that are locked, and the transaction that holds them."""

    connection: Connection
    actions: Sequence[DueAction]


_NUMBERS: Final = {"number": "integer", "version": "integer", "step": "integer"}
_DUE: Final = "receiver = :receiver and done_at is null and refused_at is null and due_at <= :now"
_IS_DUE: Final = Statement(f"select exists(select from action where {_DUE})")
_ARE_DUE: Final = Statement("""
select u.receiver from unnest(:receivers::text[]) as u (receiver) where exists(
    select from action a
    where a.receiver = u.receiver and a.done_at is null and a.refused_at is null and a.due_at <= :now
)
""")
_TAKE: Final = Statement(f"""
select {columns(DueAction)} from action where {_DUE}
order by due_at limit :most for update skip locked
""")
_END: Final = Statement(f"""
update action a set
    done_at = case when u.reason is null then :now::timestamptz end,
    refused_at = case when u.reason is not null then :now::timestamptz end, reason = u.reason
from {unnested(_Ended, reason="text")}
where a.member_id = u.member_id and a.key = u.key and a.number = u.number
""")
_PUT_OFF: Final = Statement(f"""
update action a set due_at = :due_at
from {unnested(_Key)}
where a.member_id = u.member_id and a.key = u.key and a.number = u.number
""")
_DROP: Final = Statement("""
update action set refused_at = :now, reason = 'rolled back'
where member_id = :member_id and key = :key and done_at is null and refused_at is null returning true
""")
_BACKLOG: Final = Statement(f"select count(*) as actions, min(due_at) as oldest from action where {_DUE}")


_PLAN_ANEW: Final = Statement(f"""
insert into action ({columns(PlannedAction)}, decided_at) values ({parameters(PlannedAction)}, :decided_at)
on conflict do nothing
""")
_PLAN_ONCE: Final = Statement(f"""
insert into action ({columns(PlannedAction)}, decided_at)
select u.*, :decided_at from {unnested(PlannedAction, document="json", event="json", **_NUMBERS)}
order by u.member_id, u.key, u.number
on conflict do nothing
""")


async def plan(connection: Connection, actions: Sequence[PlannedAction], decided_at: datetime) -> None:
    """In the transaction of the decision, which is led to the slice of the members."""
    rows = [(*each, decided_at) for each in actions]
    if rows:
        await connection.copy_records_to_table("action", records=rows, columns=(*PlannedAction._fields, "decided_at"))


async def plan_once(connection: Connection, actions: Sequence[PlannedAction], decided_at: datetime) -> None:
    """The same for decisions some of which may have been made before, which is seldom: an action that is there stays.
    A COPY takes a third of the time of an insert, and knows no exceptions.
    """
    try:
        async with connection.transaction():
            await plan(connection, actions, decided_at)
    except asyncpg.PostgresError as error:
        if not is_duplicate(error):
            raise
        await connection.execute(*_PLAN_ONCE(**arrays(PlannedAction, actions), decided_at=decided_at))


async def plan_anew(connection: Connection, action: PlannedAction, decided_at: datetime) -> None:
    """For a decision of another transaction, which may be gone on with again: an action that is there stays. The
    connection is led to the slice of the member.
    """
    await connection.execute(*_PLAN_ANEW(**action._asdict(), decided_at=decided_at))


async def drop(connection: Connection, member_id: str, key: str, now: datetime) -> bool:
    """Whether the actions under the key were still waiting: they are never done now. Waits while they are done. In the
    transaction that takes them back, which is led to the slice of the member.
    """
    return bool(await connection.fetch(*_DROP(member_id=member_id, key=key, now=now)))


class ActionStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def due(self, slice_: slices.Slice, receivers: Sequence[str]) -> list[str]:
        """The receivers for which actions of the slice are due, out of these."""
        if not receivers:
            return []
        async with slice_.at() as connection:
            rows = await connection.fetch(*_ARE_DUE(receivers=receivers, now=self._clock.now()))
        return [row[0] for row in rows]

    @asynccontextmanager
    async def taken(self, slice_: slices.Slice, receiver: str, most: int) -> AsyncIterator[Batch]:
        """Actions of a slice and receiver that are due. They stay locked until the end; after an error they are as
        before.
        """
        now = self._clock.now()
        async with slice_.at() as connection:
            if not await connection.fetchval(*_IS_DUE(receiver=receiver, now=now)):
                yield Batch(connection, [])
                return
            async with slices.in_place(connection):
                rows = await connection.fetch(*_TAKE(receiver=receiver, now=now, most=most))
                yield Batch(connection, [DueAction(*row) for row in rows])

    async def end(self, batch: Batch, done: Collection[DueAction], refused: Mapping[DueAction, str]) -> None:
        """Some actions of the batch are done, and some are refused, with the reason."""
        ended = [_Ended(each.member_id, each.key, each.number, refused.get(each)) for each in [*done, *refused]]
        await batch.connection.execute(*_END(**arrays(_Ended, ended), now=self._clock.now()))

    async def put_off(self, batch: Batch, actions: Collection[DueAction], by: timedelta) -> None:
        """These are due later. They stay as they are otherwise."""
        later = [_Key(each.member_id, each.key, each.number) for each in actions]
        await batch.connection.execute(*_PUT_OFF(**arrays(_Key, later), due_at=self._clock.now() + by))

    async def backlog(self, receiver: str) -> Backlog:
        """The actions of a receiver that are due, in slices whose servers can be reached."""
        statement = _BACKLOG(receiver=receiver, now=self._clock.now())
        rows = await slices.rows_in_reach(self._pool, statement)
        oldest = [row["oldest"] for row in rows if row["oldest"] is not None]
        return Backlog(sum(row["actions"] for row in rows), min(oldest, default=None))
