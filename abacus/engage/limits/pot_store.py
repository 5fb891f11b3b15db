"""Pots in Postgres, and slots that are filled up from them.

A process takes from its own slots, one in each slice of the ledger, which nobody else locks. `fill` moves a part of
what is left into one. When nothing is left, a batch locks the pot and every slot, so that the last is given out
exactly.

On several servers, what moves between a pot and a slot is committed by one before the other. A reader waits meanwhile
at the slot's row, which is therefore there before anything is moved to it.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from math import inf
from typing import Final, NamedTuple, TypeAlias, TypeVar

from abacus.engage.limits.decide.pots import Limited, Pot, Short
from abacus.engage.limits.pot_rows import (
    GIVE_BACK,
    LOCK_POTS,
    LOCK_SLOTS,
    OPEN_POTS,
    OPEN_SLOTS,
    READ_IN_SLOTS,
    READ_POTS,
    SET_POTS,
    SET_SLOTS,
    PotRow,
    SlotRow,
    WantedSlots,
    amounts_of_row,
    by_pot,
    pot_of_row,
)
from abacus.engage.limits.types import NOTHING, Amounts, Bound
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, passing_failures, snapshot
from abacus.platform.sql import arrays

SLOTS: Final = 16  # processes that take from slots of their own; two in one slot are slower, and nothing else
_MOST_RESTS: Final = 100_000
_OF_NO_VERSION: Final = 0  # so a slot that was opened by what came back is filled up before anything is taken from it
_SHARE: Final = 32  # the slots of all slices are filled up with this part of what is left


Done = TypeVar("Done")

# Takes from pots, on a connection and in its transaction; it gets the pots that are locked whole. Raises `Short`.
Work: TypeAlias = Callable[[Connection, Collection[Pot]], Awaitable[Done]]

# Reads, in the slice of the connection, what owners did before they had a limit: it counts too. Raises `Unavailable`.
DoneBefore = Callable[[Connection, Sequence[Pot]], Awaitable[Mapping[Pot, Amounts]]]


class Locked(NamedTuple):
    """What is at hand of each pot, and the rows that hold it: the slots by the schema of their slice. `remembered` pots
    are not locked, and no more is left of them than that.
    """

    left: Mapping[Pot, Amounts]
    handed_out: Mapping[Pot, Amounts]
    slots: Mapping[str | None, Sequence[SlotRow]]
    remembered: Mapping[Pot, Bound]


class _Rest(NamedTuple):
    """What was left of a pot by the limit of a version, when all of it was locked."""

    version: int
    left: Amounts
    good_until: float


class PotStore:
    """The pots, as a process takes from them that has this slot in each slice. A connection that is given is led to the
    slice of the members in question.
    """

    def __init__(self, pool: Pool, slot: int, done_before: DoneBefore, *, remembers_s: float = inf) -> None:
        """An exhausted pot is remembered that long: for ever, where nothing is given back."""
        self._pool = pool
        self._slot = slot
        self._done_before = done_before
        self._remembers_s = remembers_s
        self._rests: dict[Pot, _Rest] = {}

    async def within(
        self, slice_: slices.Slice, limited: Callable[[], Mapping[Pot, Limited]], work: Work[Done]
    ) -> Done:
        """Work on members of a slice, in a transaction at its server. After `Short` the slot is filled up, and the work
        is done anew; pots from which it cannot be filled up are given to it as `whole`, in a transaction that reaches
        all slices.
        """
        whole: set[Pot] = set()
        while True:
            try:
                async with _transaction(slice_, whole) as connection:
                    return await work(connection, whole)
            except Short as error:
                whole |= await self.fill(slice_, error.needs, limited())

    async def fill(
        self, slice_: slices.Slice, needs: Mapping[Pot, Amounts], limited: Mapping[Pot, Limited]
    ) -> set[Pot]:
        """Fills the slot of that slice up from all of these pots at once, and returns the pots in which too little is
        left for that. Raises `Unavailable`.
        """
        wanted, share = sorted(needs), _SHARE * len(await slices.slices_of(self._pool))
        empty = [SlotRow(*pot, self._slot, limited[pot].version, *NOTHING) for pot in wanted]
        async with slice_.at() as connection:
            await connection.execute(*OPEN_SLOTS(**arrays(SlotRow, empty)))
        async with slice_.together() as connection:
            return await self._fill(connection, wanted, needs, limited, share)

    async def _fill(
        self,
        connection: Connection,
        wanted: Sequence[Pot],
        needs: Mapping[Pot, Amounts],
        limited: Mapping[Pot, Limited],
        share: int,
    ) -> set[Pot]:
        handed_out = await self._lock_pots(connection, wanted)
        held = {pot_of_row(row): amounts_of_row(row) for row in await self._lock_slots(connection, wanted, ())}
        short, pots, filled = set[Pot](), list[PotRow](), list[SlotRow]()
        for pot in wanted:
            others, needed = handed_out[pot].minus(held.get(pot, NOTHING)), needs[pot]
            left = _left(limited[pot].bound, others)
            if any(need > have for need, have in zip(needed, left, strict=True)):
                short.add(pot)
                continue
            given = Amounts(*(max(need, have // share) for need, have in zip(needed, left, strict=True)))
            pots.append(PotRow(*pot, *others.plus(given)))
            filled.append(SlotRow(*pot, self._slot, limited[pot].version, *given))
        await connection.execute(*SET_POTS(**arrays(PotRow, pots)))
        await connection.execute(*SET_SLOTS(**arrays(SlotRow, filled)))
        return short

    async def left(self, limited: Mapping[Pot, Limited]) -> Mapping[Pot, Amounts]:
        """What is left of each pot altogether, without locking anything: on several servers a part of it may move
        meanwhile. Raises `Unavailable`.
        """
        if not limited:
            return {}
        pots = arrays(Pot, sorted(limited))
        async with snapshot(self._pool) as connection:
            handed_out = dict.fromkeys(limited, NOTHING) | by_pot(await connection.fetch(*READ_POTS(**pots)))
            for rows in await slices.each(connection, lambda: connection.fetch(*READ_IN_SLOTS(**pots))):
                for pot, amounts in by_pot(rows).items():
                    handed_out[pot] = handed_out[pot].minus(amounts)
        return {pot: _left(limited[pot].bound, out) for pot, out in handed_out.items()}

    async def exactly_left(self, limited: Mapping[Pot, Limited]) -> Mapping[Pot, Amounts]:
        """The same to the last point: other processes wait with theirs meanwhile. Raises `Unavailable`."""
        if not limited:
            return {}
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return (await self.lock(connection, limited, limited)).left

    async def lock(self, connection: Connection, limited: Mapping[Pot, Limited], whole: Collection[Pot]) -> Locked:
        """Locks the slots of this process in this slice, and of the pots in `whole` everything, and says what is left.
        In a transaction that reaches all slices, if there are any such pots.
        """
        rests = self._remembered(limited, whole)
        home, here = connection.slice_schema, sorted(limited.keys() - rests.keys())
        if not here:
            return Locked(rests, {}, {}, {pot: limited[pot].bound for pot in rests})
        locked_whole = [pot for pot in here if pot in whole]
        handed_out = await self._lock_pots(connection, locked_whole)
        slots: dict[str | None, Sequence[SlotRow]] = {}

        async def lock_here() -> None:
            schema = connection.slice_schema
            pots = here if schema == home else locked_whole
            slots[schema] = await self._lock_slots(connection, pots, whole)

        await (slices.each(connection, lock_here, locks=True) if handed_out else lock_here())
        left: dict[Pot, Amounts] = {}
        for row in chain.from_iterable(slots.values()):
            pot = pot_of_row(row)
            if pot in handed_out:
                handed_out[pot] = handed_out[pot].minus(amounts_of_row(row))
            elif row.version == limited[pot].version:
                left[pot] = amounts_of_row(row)
        in_all = {pot: _left(limited[pot].bound, out) for pot, out in handed_out.items()}
        good_until = time.monotonic() + self._remembers_s
        self._remember({pot: _Rest(limited[pot].version, rest, good_until) for pot, rest in in_all.items()})
        bounds = {pot: limited[pot].bound for pot in rests}
        return Locked({**rests, **left, **in_all}, handed_out, slots, bounds)

    async def take(self, connection: Connection, locked: Locked, taken: Mapping[Pot, Amounts]) -> None:
        """Writes what is left after this was taken. Slots of pots that are locked whole are empty then. Raises
        `Short` where something was taken of a pot that is only remembered: another process may have it by now.
        """
        if doubtful := locked.remembered.keys() & taken.keys():
            for pot in doubtful:
                self._rests.pop(pot, None)
            raise Short({pot: locked.remembered[pot].limited(taken[pot]) for pot in doubtful})
        pots = [PotRow(*pot, *out.plus(taken.get(pot, NOTHING))) for pot, out in locked.handed_out.items()]
        if pots:
            await connection.execute(*SET_POTS(**arrays(PotRow, pots)))

        async def write_here() -> None:
            if rows := _after(locked.slots.get(connection.slice_schema, ()), locked, taken):
                await connection.execute(*SET_SLOTS(**arrays(SlotRow, rows)))

        await (slices.each(connection, write_here) if pots else write_here())

    async def give_back(self, connection: Connection, given: Mapping[Pot, Amounts]) -> None:
        """What was taken before goes into the slots of this process in this slice, from which it is taken again, here
        or by whoever locks the pots whole. In the transaction of what ends.
        """
        rows = [SlotRow(*pot, self._slot, _OF_NO_VERSION, *amounts) for pot, amounts in sorted(given.items())]
        if rows:
            await connection.execute(*GIVE_BACK(**arrays(SlotRow, rows)))
        self.forget(given)

    def forget(self, pots: Collection[Pot]) -> None:
        """Something may have come back to these pots."""
        for pot in pots:
            self._rests.pop(pot, None)

    def _remembered(self, limited: Mapping[Pot, Limited], whole: Collection[Pot]) -> dict[Pot, Amounts]:
        """What was left of pots whose limit was used up before: nothing has to be locked to know that."""
        now = time.monotonic()
        return {
            pot: rest.left
            for pot, each in limited.items()
            if pot not in whole
            and (rest := self._rests.get(pot)) is not None
            and rest.version == each.version
            and now < rest.good_until
        }

    def _remember(self, rests: Mapping[Pot, _Rest]) -> None:
        if len(self._rests) > _MOST_RESTS:  # most are of days that are over
            self._rests.clear()
        self._rests |= rests

    async def _lock_slots(
        self, connection: Connection, pots: Sequence[Pot], whole: Collection[Pot]
    ) -> Sequence[SlotRow]:
        wanted = [WantedSlots(*pot, pot in whole) for pot in pots]
        rows = await connection.fetch(*LOCK_SLOTS(**arrays(WantedSlots, wanted), slot=self._slot))
        return [SlotRow(*row) for row in rows]

    async def _lock_pots(self, connection: Connection, pots: Sequence[Pot]) -> dict[Pot, Amounts]:
        """What was handed out of each."""
        if not pots:
            return {}
        wanted = arrays(Pot, pots)
        there = by_pot(await connection.fetch(*READ_POTS(**wanted)))
        if missing := [pot for pot in pots if pot not in there]:
            await self._open_pots(connection, missing)
        return by_pot(await connection.fetch(*LOCK_POTS(**wanted)))

    async def _open_pots(self, connection: Connection, pots: Sequence[Pot]) -> None:
        """What was done before there was such a limit counts too."""
        done = dict.fromkeys(pots, NOTHING)
        for of_slice in await slices.each(connection, lambda: self._done_before(connection, pots)):
            for pot, amounts in of_slice.items():
                done[pot] = done[pot].plus(amounts)
        opened = [PotRow(*pot, *amounts) for pot, amounts in done.items()]
        await connection.execute(*OPEN_POTS(**arrays(PotRow, opened)))


@asynccontextmanager
async def _transaction(slice_: slices.Slice, whole: Collection[Pot]) -> AsyncIterator[Connection]:
    if whole:
        async with slice_.together() as connection:
            yield connection
    else:
        async with slice_.at() as connection, connection.transaction():
            yield connection


def _after(rows: Sequence[SlotRow], locked: Locked, taken: Mapping[Pot, Amounts]) -> list[SlotRow]:
    """The slots that change."""
    changed = []
    for row in rows:
        pot = pot_of_row(row)
        if pot in locked.handed_out:
            changed.append(row._replace(**NOTHING._asdict()))
        elif pot in taken:
            changed.append(row._replace(**amounts_of_row(row).minus(taken[pot])._asdict()))
    return changed


def _left(bound: Bound, handed_out: Amounts) -> Amounts:
    """What is left of a limit; nothing of what it does not limit, or where it was lowered below what is gone."""
    return Amounts(*(0 if most is None else max(0, most - out) for most, out in zip(bound, handed_out, strict=True)))
