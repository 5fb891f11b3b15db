"""Processes go round journeys that have something due, and waits for events end by what was heard of the events."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest

from abacus.engage.journeys.decide.halts import NO_HALTS, Halts
from abacus.engage.journeys.decide.packs import LARGEST
from abacus.engage.journeys.decide.seat import Arrived, Leaves, Moved
from abacus.engage.journeys.heard import HeardStore
from abacus.engage.journeys.journeyer import Journeyer
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.pack_rows import BEGIN, Line, Mark, lines_due, put
from abacus.platform import slices
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.postgres import Pool
from tests.engage.journeys.travelling import (
    DAY,
    JOURNEY,
    NOW,
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

TOPIC = "shop.orders"
SOON = timedelta(seconds=2)


def journeyer(
    pool: Pool,
    moving: Mover,
    clock: FixedClock,
    journeys: Sequence[str] = (JOURNEY,),
    halts: Halts = NO_HALTS,
) -> Journeyer:
    return Journeyer(
        moving,
        lambda: journeys,
        HeardStore(pool),
        lambda: [TOPIC],
        pool=pool,
        clock=clock,
        halts=lambda: halts,
        health=WorkerHealth("journeyer"),
    )


async def rounds(one: Journeyer) -> int:
    """Until nothing is due any more; the number of packs."""
    packs, stop = 0, asyncio.Event()
    while some := await one.round(stop):
        packs += some
    return packs


async def test_few_members_do_not_wait_behind_a_herd(pool: Pool) -> None:
    """Whose time came later: of each journey some packs are run in each round."""
    slice_ = (await slices.slices_of(pool))[0]
    async with slice_.within() as connection:
        await put(connection, [pack(range(500), NOW, id_=number, journey="herd") for number in range(20)])
        await put(connection, [pack([7], NOW + timedelta(hours=1), journey="few")])
    clock, stop = FixedClock(NOW + DAY), asyncio.Event()
    one = journeyer(pool, mover(clock), clock, ["herd", "few", "empty"])
    assert await one.round(stop) == 2
    assert await pool.fetchval("select count(*) from pack where journey = 'few'") == 0
    assert await pool.fetchval("select count(*) from pack where journey = 'herd'") == 19
    assert await rounds(one) == 19


async def test_a_journey_that_is_not_named_waits(pool: Pool) -> None:
    """As one that is paused."""
    clock = FixedClock(NOW)
    await come_in(pool, mover(clock), [entry(1)])
    clock.set(NOW + 2 * DAY)
    assert await rounds(journeyer(pool, mover(clock), clock, [])) == 0
    assert await rounds(journeyer(pool, mover(clock), clock)) == 1


async def test_waits_for_an_event_end_by_what_was_heard(pool: Pool) -> None:
    """The least over the partitions: an event that is on its way still counts."""
    clock, heard = FixedClock(NOW), HeardStore(pool)
    moving = mover(clock)
    one = journeyer(pool, moving, clock)
    await come_in(pool, moving, [entry(number) for number in range(2)])
    clock.set(NOW + DAY + SOON)
    assert await rounds(one) >= 1
    due = NOW + 3 * DAY + 2 * SOON
    clock.set(NOW + 10 * DAY)
    assert await rounds(one) == 0  # nothing was heard at all
    await heard.hear(TOPIC, {0: due, 1: due - 3 * SOON})
    assert await rounds(one) == 0
    assert await happen(pool, moving, [event("m1")]) == 1  # it was on its way
    await heard.hear(TOPIC, {1: due})
    assert await rounds(one) >= 1
    assert await effects(pool) == {"3": 2, "5": 1, "6": 1}


@pytest.mark.parametrize("awaits", [False, True])
async def test_members_on_a_version_that_is_over_leave_before_their_time(pool: Pool, awaits: bool) -> None:  # noqa: FBT001  # a row
    """In transactions of five hundred members at most; the members of other versions stay where they are."""
    clock, halts = FixedClock(NOW), Halts(ended={(JOURNEY, 1), ("gone", 1)})
    entries = [entry(number, version=1 if number < 700 else 2) for number in range(710)]
    await come_in(pool, mover(clock), entries)
    if awaits:
        clock.set(NOW + DAY + SOON)
        await rounds(journeyer(pool, mover(clock), clock))
    sizes: list[int] = []

    async def leave(_: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        sizes.append(len(arrived))
        whys = [halts.why_over((each.seat.journey, each.seat.version), now) for each in arrived]
        return [Moved(each, (), (), Leaves(why)) for each, why in zip(arrived, whys, strict=True) if why is not None]

    one = journeyer(pool, Mover(leave, clock), clock, [], halts)
    await rounds(one)
    rows = await pool.fetch("select version, why, count(*) from seat group by 1, 2 order by 1")
    assert [tuple(row) for row in rows] == [(1, "the journey was ended", 700), (2, None, 10)]
    assert (await waiting(pool), max(sizes) <= LARGEST, sum(sizes)) == (10, True, 700)
    assert await pool.fetchval("select sum(cardinality(members)) from journey_trail where why is not null") == 700


async def test_waits_of_a_slice_that_is_behind_do_not_end_by_what_others_heard(pool: Pool) -> None:
    """Its events are read again, up to where those of others were."""
    heard, third = HeardStore(pool), DAY / 3
    await heard.hear(TOPIC, {0: NOW, 1: NOW + DAY})
    for again in range(2):
        await heard.hear(TOPIC, {0: NOW + (1 + again) * third}, but={0, 7})
    assert (await heard.upto([TOPIC]), await heard.behind([TOPIC])) == (NOW + 2 * third, {0: NOW, 7: NOW})
    assert await heard.behind(["other"]) == {}
    await heard.hear(TOPIC, {0: NOW + third}, but={7})
    assert await heard.behind([TOPIC]) == {0: NOW + third, 7: NOW}
    clock = FixedClock(NOW)
    moving = mover(clock)
    one, number = journeyer(pool, moving, clock), (await slices.slice_of(pool, "m1")).number
    await come_in(pool, moving, [entry(1)])
    clock.set(NOW + DAY + SOON)
    await rounds(one)
    clock.set(NOW + 9 * DAY)
    await heard.hear(TOPIC, {0: clock.now(), 1: clock.now()}, but={number})
    assert await rounds(one) == 0
    await heard.hear(TOPIC, {0: clock.now(), 1: clock.now()})
    assert (await rounds(one), await heard.behind([TOPIC])) == (1, {})


async def test_what_was_heard_never_goes_back(pool: Pool) -> None:
    heard = HeardStore(pool)
    assert await heard.upto([TOPIC]) is None
    await heard.hear(TOPIC, {0: NOW, 1: NOW + DAY})
    await heard.hear(TOPIC, {0: NOW - DAY})
    await heard.hear("other", {0: NOW - DAY})
    assert await heard.upto([TOPIC]) == NOW
    assert await heard.upto([TOPIC, "other"]) == NOW - DAY
    assert await heard.upto([TOPIC, "silent"]) is None
    assert await heard.upto([]) is None


@asynccontextmanager
async def open_elsewhere(pool: Pool) -> AsyncIterator[None]:
    """A transaction that is open all the time: nothing that is deleted meanwhile can be cleaned up."""
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read"):
        await connection.fetchval("select count(*) from pack")
        yield


async def test_nobody_walks_over_what_was_deleted(pool: Pool) -> None:
    """While a transaction elsewhere is open, a look from behind the last pack costs no more pages than at first."""
    slice_ = (await slices.slices_of(pool))[0]
    line = Line(JOURNEY, awaits=False)
    async with open_elsewhere(pool):
        async with slice_.within() as connection:
            await put(connection, [pack([number], NOW, id_=number) for number in range(3_000)])
        clock = FixedClock(NOW + DAY)
        moving = mover(clock)
        last = BEGIN
        while (ran := await moving.run(slice_, line, last, NOW, 64)).last is not None:
            last = ran.last
        assert await waiting(pool) == 0
        async with slice_.at() as connection:

            async def pages(behind: Mark) -> int:
                explained = await connection.fetchval(
                    "explain (analyze, buffers, format json) select from pack where journey = 'welcome'"
                    f" and not awaits and (due, id) > ('{behind.due.isoformat()}', {behind.id})"
                    " and due <= '2026-02-01' order by due, id limit 1"
                )
                plan = json.loads(explained)[0]["Plan"]
                return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])

            assert await pages(last) < 10
            assert await pages(Mark(NOW - DAY, 0)) > 50
            assert await lines_due(connection, {line: last}, {False: NOW, True: None}) == []


async def test_it_stops_when_it_is_told_and_reports_that_it_works(pool: Pool) -> None:
    clock, stop = FixedClock(NOW), asyncio.Event()
    health = WorkerHealth("journeyer")
    reached = asyncio.Event()

    async def told(journey: str, arrived: Sequence[Arrived], now: datetime) -> Sequence[Moved]:
        reached.set()
        return await go(journey, arrived, now)

    await come_in(pool, mover(clock), [entry(1)])
    clock.set(NOW + 2 * DAY)
    one = Journeyer(
        Mover(told, clock),
        lambda: [JOURNEY],
        HeardStore(pool),
        list,
        pool=pool,
        clock=clock,
        halts=lambda: NO_HALTS,
        health=health,
        idle_s=0.01,
    )
    running = asyncio.ensure_future(one.run(stop))
    await reached.wait()
    stop.set()
    await running
    assert health.state is WorkerState.READY
    assert await effects(pool) == {"3": 1}


async def test_several_share_a_herd(pool: Pool) -> None:
    clock = FixedClock(NOW)
    moving = mover(clock)
    await come_in(pool, moving, [entry(number) for number in range(1_200)])
    clock.set(NOW + 2 * DAY)
    shared = await asyncio.gather(*(rounds(journeyer(pool, mover(clock), clock)) for _ in range(2)))
    assert sum(shared) >= 3
    assert await effects(pool) == {"3": 1_200}
    assert await waiting(pool) == 1_200
