"""Members come in, go on when their wait is over, and leave: each time one transaction, and each effect once."""

import asyncio
import random
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from abacus.engage.journeys import trail_rows
from abacus.engage.journeys.decide.seat import Arrived, Done, Entry, Leaves, Moved, Party, Seated, Waits, Went
from abacus.engage.journeys.decide.ways import ways
from abacus.engage.journeys.deed_rows import put_deeds
from abacus.engage.journeys.mover import MOST_PACKS, Mover, Stuck
from abacus.engage.journeys.pack_rows import BEGIN, Line, Mark, put
from abacus.engage.journeys.seat_rows import Visit
from abacus.platform import slices
from abacus.platform.postgres import Pool
from tests.engage.journeys.travelling import (
    DAY,
    ENTRY,
    JOURNEY,
    NOW,
    ZONE,
    come_in,
    effects,
    entry,
    event,
    go,
    happen,
    mover,
    pack,
    waiting,
)
from tests.support.fixed_clock import FixedClock
from tests.support.waiting import waiting as waits_for_locks

TIMED = Line(JOURNEY, awaits=False)
AWAITED = Line(JOURNEY, awaits=True)
LATER = timedelta(days=30)


async def run(pool: Pool, moving: Mover, line: Line, upto: datetime, most: int = MOST_PACKS) -> int:
    """Runs all packs of a line that are due; the number of members in them."""
    members = 0
    for slice_ in await slices.slices_of(pool):
        while (ran := await moving.run(slice_, line, BEGIN, upto, most)).packs:
            members += ran.members
    return members


async def seats(pool: Pool) -> list[tuple[object, ...]]:
    rows = await pool.fetch("select member_id, visit, node, turn, why from seat order by member_id, visit")
    return [tuple(row) for row in rows]


async def test_from_the_entry_to_the_end(pool: Pool) -> None:
    clock = FixedClock(NOW)
    moving = mover(clock)
    came = await come_in(pool, moving, [entry(number) for number in range(3)])
    assert sorted((each.member_id, each.visit) for each in came) == [("m0", 1), ("m1", 1), ("m2", 1)]
    assert (await waiting(pool), await effects(pool)) == (3, {})
    assert await run(pool, moving, TIMED, NOW + DAY - timedelta(seconds=1)) == 0
    clock.set(NOW + DAY + timedelta(seconds=2))
    assert await run(pool, moving, TIMED, clock.now()) == 3
    assert (await waiting(pool), await effects(pool)) == (3, {"3": 3})
    assert await seats(pool) == [(f"m{number}", 1, 4, 0, None) for number in range(3)]
    clock.set(NOW + 2 * DAY)
    assert await happen(pool, moving, [event("m1"), event("nobody")]) == 1
    assert await happen(pool, moving, [event("m1")]) == 0  # the same again
    clock.set(NOW + 4 * DAY)
    assert await run(pool, moving, TIMED, clock.now()) == 0
    assert await run(pool, moving, AWAITED, clock.now()) == 3
    assert (await waiting(pool), await effects(pool)) == (0, {"3": 3, "5": 1, "6": 2})
    assert await seats(pool) == [(f"m{number}", 1, None, None, "end") for number in range(3)]
    m1 = next(each for each in came if each.member_id == "m1")
    async with slices.at(pool, "m1") as connection:
        ways = [
            (each.node, each.turn, each.path, each.why) for each in await trail_rows.passed(connection, m1, clock.now())
        ]
    assert ways == [(1, 0, [1, 2], None), (2, 0, [3, 4], None), (4, 0, [5], "end")]


async def test_the_trail_has_a_row_for_each_way_and_not_for_each_member(pool: Pool) -> None:
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(number) for number in range(200)])
    parts = len(await slices.slices_of(pool))
    assert await pool.fetchval("select count(*) from journey_trail") <= parts
    clock.set(NOW + 2 * DAY)
    assert await run(pool, moving, TIMED, clock.now()) == 200
    assert await pool.fetchval("select count(*) from journey_trail") <= 2 * parts
    assert await pool.fetchval("select sum(cardinality(members)) from journey_trail where node = 2") == 200


async def test_the_trail_says_why_deeds_were_not_done(pool: Pool) -> None:
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1)])
    clock.set(NOW + 2 * DAY)

    async def late(_: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        return [Moved(each, (3,), (), Leaves("end"), "too late") for each in arrived]

    assert await run(pool, Mover(late, clock), TIMED, clock.now()) == 1
    rows = await pool.fetch("select path, why, not_done from journey_trail order by at")
    assert [tuple(row) for row in rows] == [([1, 2], None, None), ([3], "end", "too late")]


async def test_an_event_that_does_not_end_a_wait_leaves_it_as_it_is(pool: Pool) -> None:
    """The member is in one pack as before."""
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1)])
    clock.set(NOW + 2 * DAY)
    await run(pool, moving, TIMED, clock.now())

    async def again(_: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        return [Moved(each, (), (), Waits(4, 0, now + DAY, ZONE, awaits=True)) for each in arrived]

    assert await happen(pool, Mover(again, clock), [event("m1")]) == 1
    assert (await waiting(pool), await seats(pool)) == (1, [("m1", 1, 4, 0, None)])
    clock.set(NOW + 5 * DAY)
    assert await run(pool, Mover(again, clock), AWAITED, clock.now()) == 1  # its time has come: it is looked at later
    assert (await waiting(pool), await seats(pool)) == (1, [("m1", 1, 4, 0, None)])


async def test_the_time_of_a_wait_that_an_event_has_ended_moves_nobody(pool: Pool) -> None:
    """Who waits for something else by then."""
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1)])
    clock.set(NOW + 2 * DAY)
    await run(pool, moving, TIMED, clock.now())

    async def to_another_wait(_: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        return [Moved(each, (7,), (), Waits(7, 0, now + LATER, ZONE)) for each in arrived]

    assert await happen(pool, Mover(to_another_wait, clock), [event("m1")]) == 1
    clock.set(NOW + 5 * DAY)
    assert await run(pool, moving, AWAITED, clock.now()) == 1
    assert await effects(pool) == {"3": 1}
    assert (await waiting(pool), await seats(pool)) == (1, [("m1", 1, None, None, None)])


async def test_an_event_that_ends_the_visit_fetches_members_out_of_any_wait(pool: Pool) -> None:
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1), entry(2)])
    assert await happen(pool, moving, [event("m1", "left")]) == 1
    clock.set(NOW + 2 * DAY)
    assert await run(pool, moving, TIMED, clock.now()) == 2
    assert await effects(pool) == {"3": 1}
    assert await seats(pool) == [("m1", 1, None, None, "moved away"), ("m2", 1, 4, 0, None)]


async def test_an_entry_is_done_once_and_visits_are_numbered(pool: Pool) -> None:
    moving = mover(FixedClock(NOW))
    first, again, other = entry(1, key="a"), entry(1, key="a"), entry(1, key="b")
    assert [each.visit for each in await come_in(pool, moving, [first, again, other])] == [1, 2]
    assert await come_in(pool, moving, [again, other]) == []

    def never_again(_: Entry, before: Sequence[Visit]) -> bool:
        return not before

    slice_ = await slices.slice_of(pool, "m1")
    assert await moving.enter(slice_, [entry(1, key="c")], never_again, ENTRY) == []
    assert await waiting(pool) == 2


async def test_of_two_entries_at_once_the_second_sees_the_first(pool: Pool) -> None:
    """One comes in only if nobody was there before."""

    def never_again(_: Entry, before: Sequence[Visit]) -> bool:
        return not before

    moving, slice_ = mover(FixedClock(NOW)), await slices.slice_of(pool, "m1")
    reached, goes_on = asyncio.Event(), asyncio.Event()

    async def held(journey: str, arrived: Sequence[Arrived], now: datetime) -> Sequence[Moved]:
        reached.set()
        await goes_on.wait()
        return await go(journey, arrived, now)

    first = asyncio.ensure_future(Mover(held, FixedClock(NOW)).enter(slice_, [entry(1, key="a")], never_again, ENTRY))
    await reached.wait()
    second = asyncio.ensure_future(moving.enter(slice_, [entry(1, key="b")], never_again, ENTRY))
    await waits_for_locks(pool, second)
    goes_on.set()
    assert (len(await first), await second) == (1, [])


async def test_after_a_fault_everything_is_as_before(pool: Pool) -> None:
    clock = FixedClock(NOW)
    await come_in(pool, mover(clock), [entry(1)])
    clock.set(NOW + 2 * DAY)

    async def nowhere(journey: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        """The wait cannot be written: its node is too large a number."""
        moved = await go(journey, arrived, now)
        return [each._replace(then=Waits(1 << 40, 0, now, ZONE)) for each in moved]

    with pytest.raises(Stuck):
        await run(pool, Mover(nowhere, clock), TIMED, clock.now())
    assert (await waiting(pool), await effects(pool)) == (1, {})
    assert await run(pool, mover(clock), TIMED, clock.now()) == 1
    assert await effects(pool) == {"3": 1}


async def test_who_is_moved_back_is_not_given_the_same_again(pool: Pool) -> None:
    """As by people who move a herd to another version, to a node that its members have passed."""
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1)])
    clock.set(NOW + 2 * DAY)
    await run(pool, moving, TIMED, clock.now())
    async with (await slices.slice_of(pool, "m1")).within() as connection:
        await connection.execute("update seat set version = 2, node = null, turn = null")
        await put(connection, [pack([1], NOW, version=2)])
    assert await run(pool, moving, TIMED, clock.now()) == 1
    assert await effects(pool) == {"3": 1}
    clock.set(NOW + 6 * DAY)
    assert await run(pool, moving, AWAITED, clock.now()) == 2  # of version 1, too, which moves nobody
    assert await effects(pool) == {"3": 1, "6": 1}
    assert await pool.fetchval("select sum(cardinality(members)) from journey_trail where node = 4") == 1


async def test_packs_are_taken_by_one_and_full_ones_alone(pool: Pool) -> None:
    """Packs go together, up to four thousand members."""
    slice_ = (await slices.slices_of(pool))[0]
    sizes = [500, 500, 3000, 3900, 500, 4100]
    async with slice_.within() as connection:
        await put(
            connection,
            [pack(range(size), NOW + timedelta(seconds=number)) for number, size in enumerate(sizes)],
        )
    moving, ran = mover(FixedClock(NOW)), []
    while (now := await moving.run(slice_, TIMED, BEGIN, NOW + LATER, MOST_PACKS)).packs:
        ran.append(now[:2])
    assert ran == [(3, 4000), (1, 3900), (1, 500), (1, 4100)]


async def test_it_is_told_how_many_members_went_each_by_itself(pool: Pool) -> None:
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1)])
    clock.set(NOW + 2 * DAY)
    ran = await moving.run(await slices.slice_of(pool, "m1"), TIMED, BEGIN, clock.now(), MOST_PACKS)
    assert (ran.members, ran.singly) == (1, 1)


async def test_another_process_takes_other_packs(pool: Pool) -> None:
    slice_ = (await slices.slices_of(pool))[0]
    async with slice_.within() as connection:
        await put(connection, [pack([number], NOW, id_=number) for number in range(2)])
    moving = mover(FixedClock(NOW))
    async with slice_.within() as connection:
        await connection.fetch("select from pack order by due, id limit 1 for update")
        ran = await moving.run(slice_, TIMED, BEGIN, NOW, MOST_PACKS)
        assert ran == (1, 1, Mark(NOW, 1), 0)
        assert (await moving.run(slice_, TIMED, BEGIN, NOW, MOST_PACKS)).packs == 0
    assert (await moving.run(slice_, TIMED, Mark(NOW, 0), NOW, MOST_PACKS)).packs == 0  # behind the mark
    assert (await moving.run(slice_, TIMED, BEGIN, NOW, MOST_PACKS)).packs == 1


@pytest.mark.parametrize("is_event_first", [True, False])
async def test_an_event_and_its_time_at_once(pool: Pool, *, is_event_first: bool) -> None:
    """The member goes one way: whichever has the member's seat first."""
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1)])
    clock.set(NOW + 2 * DAY)
    await run(pool, moving, TIMED, clock.now())
    clock.set(NOW + 5 * DAY)
    reached, goes_on = asyncio.Event(), asyncio.Event()

    async def held(journey: str, arrived: Sequence[Arrived], now: datetime) -> Sequence[Moved]:
        reached.set()
        await goes_on.wait()
        return await go(journey, arrived, now)

    holding = Mover(held, clock)
    by_event, by_time = (holding, moving) if is_event_first else (moving, holding)

    async def by_either(*, is_event: bool) -> int:
        if is_event:
            return await happen(pool, by_event, [event("m1")])
        return await run(pool, by_time, AWAITED, clock.now())

    one = asyncio.ensure_future(by_either(is_event=is_event_first))
    await reached.wait()
    other = asyncio.ensure_future(by_either(is_event=not is_event_first))
    await waits_for_locks(pool, other)
    goes_on.set()
    await asyncio.gather(one, other)
    assert await effects(pool) == {"3": 1, "5" if is_event_first else "6": 1}
    assert await waiting(pool) == 0


async def test_who_leaves_amid_a_step_to_the_next_event_is_not_brought_back(pool: Pool) -> None:
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(1), entry(2)])
    clock.set(NOW + 2 * DAY)

    async def left(journey: str, arrived: Sequence[Arrived], now: datetime) -> Sequence[Moved]:
        await happen(pool, moving, [event("m1", "left")])
        return await go(journey, arrived, now)

    await run(pool, Mover(left, clock), TIMED, clock.now())
    assert await effects(pool) == {"3": 1}
    assert [each[2:] for each in await seats(pool)] == [(None, None, "moved away"), (4, 0, None)]
    assert await waiting(pool) == 1


async def test_rows_have_five_hundred_members_at_most(pool: Pool) -> None:
    """Also where more went the same way in one transaction."""
    members = [Seated(number, 1, f"m{number}") for number in range(1200)]
    party = Party(JOURNEY, 1, 1, 0, None, NOW, members)
    went = [Went(party, members, (1, 2), [Done(2, 0, None)], Leaves("through"))]
    async with (await slices.slices_of(pool))[0].within() as connection:
        await put_deeds(connection, went, NOW, random.random)
        await trail_rows.add(connection, ways((), went), NOW, random.random)
    for table in ("journey_deed", "journey_trail"):
        rows = await pool.fetch(f"select cardinality(members) from {table} order by 1")
        assert [row[0] for row in rows] == [200, 500, 500]
