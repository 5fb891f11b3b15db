"""Members are moved to another version: all of them once, page by page, whatever cuts it off."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from abacus.engage.journeys.aside_rows import Aside, What, aside, put_back, set_aside
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.migration import Migration, Stand, read_migration
from abacus.engage.journeys.decide.seat import Arrived, Entry, Go, Leaves, Moved, Waits
from abacus.engage.journeys.migrator import Migrator
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.pack_rows import BEGIN, Line, delete, take
from abacus.engage.journeys.report import glance
from abacus.platform import slices
from abacus.platform.postgres import Pool
from tests.engage.journeys.examples import HELLO, ORDERS, journey, nodes
from tests.engage.journeys.test_mover import run
from tests.engage.journeys.travelling import DAY, JOURNEY, NOW, ZONE, come_in, entry, event, told
from tests.support.fixed_clock import FixedClock
from tests.support.slices import neighbour
from tests.support.waiting import waiting as waits_for_locks

# hello ─► pause ─► second: an order, or two days ─► done. In the other version `second` is `later`, of five days.
_WAIT = {"wait": {"for": "2d", "event": {"on": ORDERS}}, "next": "done", "otherwise": "done"}
_LATER = {"wait": {"for": "5d", "event": {"on": ORDERS}}, "next": "done", "otherwise": "done"}
_HEAD = {"hello": {"do": HELLO, "next": "pause"}}
_NUMBERS = {"hello": 1, "pause": 2, "second": 3, "done": 4, "later": 5}
BEFORE = nodes("hello", **_HEAD, pause={"wait": {"for": "1d"}, "next": "second"}, second=_WAIT)
AFTER = nodes("hello", **_HEAD, pause={"wait": {"for": "1d"}, "next": "later"}, later=_LATER)
MEMBERS = 40
TOLD_AT = _NUMBERS["done"]  # where the tests' members are told something


def _version(number: int, written: dict[str, object]) -> Journey:
    return journey(number, **written).numbered(number, _NUMBERS)


@pytest.fixture
def there() -> Migration:
    return read_migration(_version(1, BEFORE), _version(2, AFTER), {"second": "later"})


@pytest.fixture
def back() -> Migration:
    return read_migration(_version(2, AFTER), _version(1, BEFORE), {"later": "second"})


async def _go(name: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
    """Half of the members come to the wait for an order at once; the others pause for a day."""
    return [_moved(name, each) for each in arrived]


def _moved(name: str, arrived: Arrived) -> Moved:
    seat = arrived.seat
    if arrived.enters:
        node, awaits = (_NUMBERS["second"], True) if seat.member % 2 else (_NUMBERS["pause"], False)
        return Moved(arrived, (1,), (), Waits(node, 0, NOW + DAY, ZONE, "a", awaits, NOW))
    return Moved(arrived, (4,), (told(name, seat, TOLD_AT, NOW),), Leaves("end"))


async def inside(pool: Pool, clock: FixedClock, members: int = MEMBERS) -> Mover:
    moving = Mover(_go, clock)
    entries = [Entry(f"m{number}", number, JOURNEY, 1, "key", "SG") for number in range(members)]
    await come_in(pool, moving, entries)
    return moving


async def where(pool: Pool) -> dict[tuple[int, int, int | None], int]:
    """How many members are inside, by the version, the node of their pack and that of their seat."""
    rows = await pool.fetch(
        "select p.version, p.node, s.node, count(*), count(distinct s.member)"
        " from pack p cross join unnest(p.members, p.visits) as m (member, visit)"
        " join seat s using (journey, member, visit) where s.version = p.version and s.left_at is null group by 1, 2, 3"
    )
    assert all(row[3] == row[4] for row in rows), "somebody is in two packs"
    return {(row[0], row[1], row[2]): row[3] for row in rows}


def nothing(_: int) -> None:
    """Nobody looks at the progress."""


HALF = MEMBERS // 2


async def test_everybody_lands_where_the_map_says_and_keeps_what_was_begun(pool: Pool, there: Migration) -> None:
    clock = FixedClock(NOW)
    moving = await inside(pool, clock)
    clock.set(NOW + timedelta(hours=6))
    migrator = Migrator(pool, clock)
    stands = {Stand(_NUMBERS["pause"], "a"): HALF, Stand(_NUMBERS["second"], "a"): HALF}
    assert await migrator.stands(there, nothing) == stands
    assert await where(pool) == {(1, 2, None): HALF, (1, 3, 3): HALF}, "counting moves nobody"
    pages: list[int] = []
    assert await migrator.move(there, pages.append) == MEMBERS == sum(pages)
    assert await where(pool) == {(2, 2, None): HALF, (2, 5, 5): HALF}
    assert await pool.fetchval("select count(*) from pack where version = 1") == 0
    rows = await pool.fetch(
        "select distinct s.since, p.due from pack p join seat s on s.member = any(p.members) where p.awaits"
    )
    assert {row[0] for row in rows} == {NOW}
    assert all(timedelta(0) <= row[1] - (NOW + 5 * DAY) <= timedelta(seconds=2) for row in rows)
    assert (await migrator.move(there, nothing), await migrator.stands(there, nothing)) == (0, {})
    of_all, of_second = await glance(pool, JOURNEY), await glance(pool, JOURNEY, 2)
    for live in (of_all, of_second):
        waiting = {number: each.waiting for number, each in live.nodes.items() if each.waiting}
        assert (live.inside, waiting) == (MEMBERS, {_NUMBERS["pause"]: HALF, _NUMBERS["later"]: HALF})
    clock.set(NOW + DAY + timedelta(seconds=3))
    assert await run(pool, moving, Line(JOURNEY, awaits=False), clock.now()) == HALF
    assert (
        await pool.fetchval("select sum(cardinality(members)) from journey_trail where version = 2 and path = '{}'")
        == MEMBERS
    )


async def test_who_is_moved_there_and_back_is_given_nothing_twice(
    pool: Pool, there: Migration, back: Migration
) -> None:
    clock = FixedClock(NOW)
    moving = await inside(pool, clock)
    migrator = Migrator(pool, clock)
    for each in (there, back, there):
        assert await migrator.move(each, nothing) == MEMBERS
    clock.set(NOW + 9 * DAY)
    for awaits in (False, True):
        assert await run(pool, moving, Line(JOURNEY, awaits=awaits), clock.now()) == HALF
    assert await pool.fetchval("select count(*) from action") == MEMBERS
    assert await pool.fetchval("select count(*) from seat where why = 'end' and version = 2") == MEMBERS


async def test_a_run_that_was_cut_off_goes_on(pool: Pool, there: Migration) -> None:
    clock = FixedClock(NOW)
    await inside(pool, clock, 3 * MEMBERS)

    class CutOff(Exception):
        """The process dies behind a page."""

    def cut_off(members: int) -> None:
        if members:
            raise CutOff

    migrator = Migrator(pool, clock)
    with pytest.raises(CutOff):
        await migrator.move(there, cut_off)
    found = await where(pool)
    moved = sum(members for (version, *_), members in found.items() if version == there.after.version)
    assert 0 < moved < 3 * MEMBERS
    assert sum(found.values()) == 3 * MEMBERS
    assert sum((await migrator.stands(there, nothing)).values()) == 3 * MEMBERS - moved
    assert await migrator.move(there, nothing) == 3 * MEMBERS - moved
    assert await where(pool) == {(2, 2, None): 3 * HALF, (2, 5, 5): 3 * HALF}


async def test_who_is_set_aside_is_moved_too_and_stays_set_aside(pool: Pool, there: Migration) -> None:
    clock = FixedClock(NOW)
    moving = await inside(pool, clock)
    pausing, since = Line(JOURNEY, awaits=False), NOW - DAY
    for slice_ in await slices.slices_of(pool):
        async with slice_.at() as connection, slices.in_place(connection):
            packs = await take(connection, pausing, BEGIN, NOW + 9 * DAY, MEMBERS)
            if packs:
                await set_aside(connection, [(each, "a bug") for each in packs], since)
                await delete(connection, packs)
    migrator = Migrator(pool, clock)
    assert await migrator.stands(there, nothing) == {
        Stand(_NUMBERS["pause"], "a"): HALF,
        Stand(_NUMBERS["second"], "a"): HALF,
    }
    pages: list[int] = []
    assert (await migrator.move(there, pages.append), sum(pages)) == (MEMBERS, MEMBERS)
    (found,) = await aside(pool)
    assert found == Aside(JOURNEY, 2, _NUMBERS["pause"], What.WAIT, "a bug", since, HALF)
    assert (await glance(pool, JOURNEY, 2)).inside == MEMBERS
    assert (await put_back(pool, JOURNEY, NOW), await migrator.move(there, nothing)) == (HALF, 0)
    assert await where(pool) == {(2, 2, None): HALF, (2, 5, 5): HALF}
    clock.set(NOW + DAY + timedelta(seconds=3))
    assert await run(pool, moving, pausing, clock.now()) == HALF


async def test_two_at_once_move_everybody_once(pool: Pool, there: Migration) -> None:
    clock = FixedClock(NOW)
    await inside(pool, clock)
    moved = await asyncio.gather(*(Migrator(pool, clock).move(there, nothing) for _ in range(2)))
    assert sum(moved) == MEMBERS
    assert await where(pool) == {(2, 2, None): HALF, (2, 5, 5): HALF}


async def test_who_left_stays_where_it_was(pool: Pool, there: Migration) -> None:
    """Its pack is still there."""
    clock = FixedClock(NOW)
    moving = await inside(pool, clock)
    assert await moving.hear(await slices.slice_of(pool, "m1"), JOURNEY, {"m1": event("m1")}, lambda *_: True) == 1
    migrator = Migrator(pool, clock)
    assert sum((await migrator.stands(there, nothing)).values()) == MEMBERS - 1
    assert await migrator.move(there, nothing) == MEMBERS - 1
    assert await pool.fetchval("select version from seat where member_id = 'm1'") == 1


class Held:
    """Lets members go on as `go` says, once it is let."""

    def __init__(self, go: Go) -> None:
        self._go = go
        self.reached, self.goes_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, name: str, arrived: Sequence[Arrived], now: datetime) -> Sequence[Moved]:
        self.reached.set()
        await self.goes_on.wait()
        return await self._go(name, arrived, now)


async def test_a_process_that_runs_a_pack_now_is_waited_for(pool: Pool, there: Migration) -> None:
    """The members are not moved out of the hands of who lets them go on."""
    clock = FixedClock(NOW)
    await come_in(pool, Mover(_go, clock), [entry(2)])
    clock.set(NOW + 2 * DAY)
    held = Held(_go)
    running = asyncio.create_task(run(pool, Mover(held, clock), Line(JOURNEY, awaits=False), clock.now()))
    await held.reached.wait()
    moving = asyncio.create_task(Migrator(pool, clock).move(there, nothing))
    await waits_for_locks(pool, moving)
    held.goes_on.set()
    assert (await running, await moving) == (1, 0)
    assert await pool.fetchval("select count(*) from action") == 1


async def test_an_event_amid_the_move_is_waited_for(pool: Pool, there: Migration) -> None:
    clock = FixedClock(NOW)
    await come_in(pool, Mover(_go, clock), [entry(1)])
    held = Held(_go)
    slice_ = await slices.slice_of(pool, "m1")
    happening = asyncio.create_task(Mover(held, clock).hear(slice_, JOURNEY, {"m1": event("m1")}, lambda *_: True))
    await held.reached.wait()
    moving = asyncio.create_task(Migrator(pool, clock).move(there, nothing))
    await waits_for_locks(pool, moving)
    held.goes_on.set()
    assert (await happening, await moving) == (1, 0)
    assert tuple(await pool.fetchrow("select version, node, why from seat")) == (1, None, "end")


async def test_who_goes_on_amid_the_move_is_moved_too(pool: Pool, there: Migration) -> None:
    """To a wait that is over before the last one that the move has seen."""
    clock, later = FixedClock(NOW), NOW + 9 * DAY
    slow = neighbour("slow")  # both members lie in one slice

    async def pause(_: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        return [Moved(each, (), (), Waits(2, 0 if each.enters else 1, _due(each), ZONE)) for each in arrived]

    def _due(each: Arrived) -> datetime:
        return NOW + 3 * DAY if not each.enters else later if each.seat.member_id == slow else NOW + DAY

    quick = neighbour("quick")
    entries = [Entry(name, number, JOURNEY, 1, "key", "SG") for number, name in enumerate((quick, slow))]
    await come_in(pool, Mover(pause, clock), entries)
    clock.set(NOW + 2 * DAY)
    held = Held(pause)
    running = asyncio.create_task(run(pool, Mover(held, clock), Line(JOURNEY, awaits=False), clock.now()))
    await held.reached.wait()
    moving = asyncio.create_task(Migrator(pool, clock).move(there, nothing))
    await waits_for_locks(pool, moving)
    held.goes_on.set()
    assert (await running, await moving) == (1, 2)
    assert await where(pool) == {(2, 2, None): 2}
