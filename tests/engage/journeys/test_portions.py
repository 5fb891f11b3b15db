"""What a transaction takes of packs and deeds is what it uses: others find the rest free."""

import asyncio
from collections.abc import Sequence
from typing import Final

import pytest

from abacus.engage.journeys.decide.halts import Halts
from abacus.engage.journeys.decide.migration import Migration, read_migration
from abacus.engage.journeys.decide.packs import LARGEST
from abacus.engage.journeys.decide.portion import MOST, Portion
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.deed_actions import Unfolded
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.migrator import Migrator
from abacus.engage.journeys.pack_rows import put
from abacus.engage.journeys.unfolder import Unfolder
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from tests.engage.journeys.examples import journey, nodes
from tests.engage.journeys.test_journeyer import journeyer
from tests.engage.journeys.travelling import DAY, JOURNEY, NOW, mover, pack
from tests.support.fixed_clock import FixedClock

_ROWS: Final = 4
_MEMBERS: Final = range(400)  # of which there are two rows in no transaction


def test_as_many_are_taken_as_had_five_hundred_members_together() -> None:
    portion, taken = Portion(), list[int]()
    for members_of_each in (1, 1, 1, 20, 20, 300, 300):
        taken.append(portion.at_once)
        portion.used(portion.at_once, portion.at_once * members_of_each)
    assert taken == [1, 2, 4, 8, 16, 25, 1]
    assert LARGEST // 300 == portion.at_once == 1
    for _ in range(9):
        portion.used(portion.at_once, 0)
    assert portion.at_once == MOST
    portion.used(0, 0)
    assert portion.at_once == MOST, "nothing is learned where nothing was there"


async def _large(pool: Pool) -> slices.Slice:
    """A slice with large packs of the first version."""
    slice_ = (await slices.slices_of(pool))[0]
    async with slice_.within() as connection:
        await put(connection, [pack(_MEMBERS, NOW + DAY, id_=number) for number in range(_ROWS)])
    return slice_


async def _left(slice_: slices.Slice, table: str) -> tuple[int, int]:
    """How many rows are left, and how many of them somebody has locked."""
    async with slice_.at() as connection:
        rows = await connection.fetch(f"select xmax::text from {table}")
    return len(rows), sum(row[0] != "0" for row in rows)


async def test_who_is_sent_out_leaves_by_packs_that_nobody_locked_for_nothing(pool: Pool) -> None:
    slice_, clock = await _large(pool), FixedClock(NOW)
    one = journeyer(pool, mover(clock), clock, [], Halts(ended=frozenset({(JOURNEY, 1)})))
    stop = asyncio.Event()
    for left in reversed(range(_ROWS)):
        assert await one.round(stop) == 1
        assert await _left(slice_, "pack") == (left, 0)


class _CutOff(Exception):
    """The process ends behind a page."""


async def test_who_is_moved_to_another_version_is_in_packs_that_nobody_locked_for_nothing(pool: Pool) -> None:
    slice_, clock = await _large(pool), FixedClock(NOW)

    def after_a_page(_: int) -> None:
        raise _CutOff

    with pytest.raises(_CutOff):
        await Migrator(pool, clock).move(_migration(), after_a_page)
    assert await _left(slice_, "pack") == (_ROWS - 1, 0)


def _migration() -> Migration:
    wait = {"wait": {"for": "1d"}, "next": "done"}
    numbers = {"day": 2, "done": 3}
    before, after = (journey(version, **nodes("day", day=wait)).numbered(version, numbers) for version in (1, 2))
    return read_migration(before, after, {})


async def test_deeds_are_unfolded_that_nobody_locked_for_nothing(pool: Pool) -> None:
    slice_ = (await slices.slices_of(pool))[0]
    visits = [1] * len(_MEMBERS)
    deeds = [DeedRow(JOURNEY, NOW, number, 1, 3, 0, None, list(_MEMBERS), visits) for number in range(_ROWS)]
    async with slice_.within() as connection:
        await connection.copy_records_to_table("journey_deed", records=deeds, columns=DeedRow._fields)

    async def nothing(_: DeedRow, __: Sequence[Seat]) -> Unfolded:
        return Unfolded([], [])

    unfolder = Unfolder(nothing, lambda: [JOURNEY], pool=pool, clock=FixedClock(NOW), health=WorkerHealth("journeyer"))
    stop = asyncio.Event()
    for left in reversed(range(_ROWS)):
        assert await unfolder.round(stop) == 1
        assert await _left(slice_, "journey_deed") == (left, 0)
