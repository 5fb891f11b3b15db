"""Turns in Postgres: one row for each receiver, from which all processes take.

A process that dies leaves its turns unused: the receiver gets less for a second, never more.
"""

from datetime import datetime, timedelta
from typing import Final

from abacus.platform.pace.decide.pace import Pace, Slots, slots
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement

_BEGIN: Final = Statement("insert into pace (receiver, free_at) values (:receiver, :now) on conflict do nothing")
_LOCK: Final = Statement("select free_at from pace where receiver = :receiver for update")
_MOVE: Final = Statement("update pace set free_at = :free_at where receiver = :receiver")


class Turns:
    """The turns of one receiver, inside a transaction: the row stays locked until its end."""

    def __init__(self, connection: Connection, receiver: str) -> None:
        self._connection = connection
        self._receiver = receiver
        self._free_at: datetime | None = None

    async def offered(self, pace: Pace, now: datetime, most: int) -> Slots:
        """The free turns. Turns that are not taken stay for others."""
        self._free_at = await self._locked(now)
        return slots(pace.step(now), self._free_at, now, most)

    async def take(self, given: Slots, taken: int) -> None:
        """Uses up `taken` of the turns."""
        free_at = given.after(taken)
        if (taken or given.first_at < (self._free_at or given.first_at)) and free_at != self._free_at:
            await self._connection.execute(*_MOVE(receiver=self._receiver, free_at=free_at))

    async def book(self, step: timedelta, now: datetime, wanted: int) -> datetime:
        """Books this many turns, one step apart, however far ahead; the time of the first."""
        first_at = max(now, await self._locked(now))
        await self._connection.execute(*_MOVE(receiver=self._receiver, free_at=first_at + wanted * step))
        return first_at

    async def _locked(self, now: datetime) -> datetime:
        free_at: datetime | None = await self._connection.fetchval(*_LOCK(receiver=self._receiver))
        if free_at is None:
            await self._connection.execute(*_BEGIN(receiver=self._receiver, now=now))
            free_at = await self._connection.fetchval(*_LOCK(receiver=self._receiver))
        return free_at or now


async def take_turns(pool: Pool, receiver: str, pace: Pace, now: datetime, most: int) -> Slots:
    """Takes as many turns as there are, in a transaction of its own. Raises `Unavailable`."""
    async with passing_failures(), pool.acquire() as connection, connection.transaction():
        turns = Turns(connection, receiver)
        given = await turns.offered(pace, now, most)
        await turns.take(given, given.turns)
    return given


async def book_turns(pool: Pool, receiver: str, step: timedelta, now: datetime, wanted: int) -> datetime:
    """Books turns ahead, in a transaction of its own; the time of the first. Raises `Unavailable`."""
    async with passing_failures(), pool.acquire() as connection, connection.transaction():
        return await Turns(connection, receiver).book(step, now, wanted)
