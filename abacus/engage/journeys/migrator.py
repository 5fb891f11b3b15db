"""Moves the members inside a journey to another version, page by page: each page is one transaction in their slice.

What is left is what still waits on the earlier version, also what was set aside, which stays so. So a run that was cut
off goes on when it is done again, and nobody is moved twice.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final, TypeAlias

from abacus.core.clock import Clock
from abacus.engage.journeys import sum_rows, trail_rows
from abacus.engage.journeys.aside_rows import inside_aside, set_aside, take_aside
from abacus.engage.journeys.decide.migration import Migration, Stand, landed
from abacus.engage.journeys.decide.packs import Pack, packed
from abacus.engage.journeys.decide.portion import Portion, first_together
from abacus.engage.journeys.decide.ways import counted, gone_from, landings, moved_from, stood
from abacus.engage.journeys.mover import arrived_of, waiting_of
from abacus.engage.journeys.pack_rows import BEGIN, Line, Mark, are_left, delete, inside_packs, put, take_version
from abacus.engage.journeys.seat_rows import migrate_seats, seats_of
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool

_COUNTED: Final = 1_000  # packs at once
_RNG: Final = random.SystemRandom()  # a process that was forked draws no number again

# Keeps new packs.
_Keep: TypeAlias = Callable[[Iterable[Pack]], Awaitable[None]]

Told: TypeAlias = Callable[[int], object]  # is told of further members


class Migrator:
    """Every method raises `Unavailable`; it has gone through all slices that are in reach then."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def stands(self, migration: Migration, told: Told) -> Counter[Stand]:
        """How many members wait where, on the earlier version."""
        found: Counter[Stand] = Counter()

        async def page(slice_: slices.Slice, line: Line, behind: Mark) -> Mark | None:
            async with slice_.at() as connection:
                packs = await inside_packs(connection, line, migration.before.version, behind, _COUNTED)
            for each in packs:
                found[Stand(each.node, each.arm)] += each.inside
            told(sum(each.inside for each in packs))
            return Mark(packs[-1].due, packs[-1].id) if packs else None

        async def work(slice_: slices.Slice, lines: Sequence[Line]) -> None:
            await _through(slice_, lines, page)
            async with slice_.at() as connection:
                aside = await inside_aside(connection, migration.before.name, migration.before.version)
            for each in aside:
                found[Stand(each.node, each.arm)] += each.inside
                told(each.inside)

        await self._everywhere(migration, work)
        return +found

    async def move(self, migration: Migration, told: Told) -> int:
        """Moves everybody who is left; how many members."""
        moved, portions = 0, defaultdict[int, Portion](Portion)

        async def page(slice_: slices.Slice, line: Line, behind: Mark) -> Mark | None:
            nonlocal moved
            last, members = await self._page(slice_, line, behind, migration, portions[slice_.number])
            moved += members
            told(members)
            return last

        async def work(slice_: slices.Slice, lines: Sequence[Line]) -> None:
            nonlocal moved
            while await _are_left(slice_, migration):  # who went on meanwhile waits somewhere else
                await _through(slice_, lines, page)
                while (members := await self._page_aside(slice_, migration)) is not None:
                    moved += members
                    told(members)

        await self._everywhere(migration, work)
        return moved

    async def _page(
        self, slice_: slices.Slice, line: Line, behind: Mark, migration: Migration, portion: Portion
    ) -> tuple[Mark | None, int]:
        """Five hundred members at most; the last pack, and how many were moved."""
        async with slice_.at() as connection, slices.in_place(connection):
            taken = await take_version(connection, line, behind, migration.before.version, portion.at_once)
            packs = list(first_together(taken))
            portion.used(len(packs), sum(len(each.members) for each in packs))
            if not packs:
                return None, 0
            await delete(connection, packs)
            moved = await self._land(connection, migration, packs, partial(put, connection))
            return Mark(packs[-1].due, packs[-1].id), moved

    async def _page_aside(self, slice_: slices.Slice, migration: Migration) -> int | None:
        """A pack that was set aside stays so, with its fault; how many members were moved, and None where there was no
        such pack.
        """
        async with slice_.at() as connection, slices.in_place(connection):
            taken = await take_aside(connection, migration.before.name, migration.before.version)
            if taken is None:
                return None

            async def keep(packs: Iterable[Pack]) -> None:
                await set_aside(connection, [(each, taken.fault) for each in packs], taken.since)

            return await self._land(connection, migration, [taken.pack], keep)

    async def _land(self, connection: Connection, migration: Migration, packs: Sequence[Pack], keep: _Keep) -> int:
        """The members of packs wait on in others, which it keeps; how many."""
        seats, now = await seats_of(connection, packs, lock=True), self._clock.now()
        there = [(each, pack) for pack in packs for each in arrived_of(pack, seats)]
        moved = [landed(migration, each, pack.due, pack.zone, now) for each, pack in there]
        await migrate_seats(connection, moved, migration.after.version, now)
        await keep(packed(waiting_of(moved), _RNG.random))
        went, arrived = landings(moved), [each for each, _ in there]
        await trail_rows.add(connection, went, now, _RNG.random)
        counts = counted(went) + moved_from(arrived) + gone_from(packs, stood(arrived))
        await sum_rows.add(connection, counts, now.astimezone(migration.after.zone).date())
        return len(moved)

    async def _everywhere(
        self, migration: Migration, work: Callable[[slices.Slice, Sequence[Line]], Awaitable[None]]
    ) -> None:
        lines = [Line(migration.before.name, awaits) for awaits in (False, True)]

        async def in_slice(slice_: slices.Slice, part: Sequence[Line]) -> None:
            await work(slice_, part)

        in_turn = {each.number: lines for each in await slices.slices_of(self._pool)}
        (await slices.in_slices(self._pool, in_turn, in_slice, patience_s=None)).whole()


async def _through(
    slice_: slices.Slice, lines: Sequence[Line], page: Callable[[slices.Slice, Line, Mark], Awaitable[Mark | None]]
) -> None:
    """Once through all packs of these lines."""
    for line in lines:
        behind: Mark | None = BEGIN
        while behind is not None:
            behind = await page(slice_, line, behind)


async def _are_left(slice_: slices.Slice, migration: Migration) -> bool:
    async with slice_.at() as connection:
        return await are_left(connection, migration.before.name, migration.before.version)
