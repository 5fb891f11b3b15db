"""Erasing a member while something is done for it in a journey: whatever is entered does not keep the id."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from abacus.engage.journeys.decide.seat import Arrived, Moved, Seat, Waits
from abacus.engage.journeys.deed_actions import Unfolded
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.mover import MOST_PACKS, Mover
from abacus.engage.journeys.pack_rows import BEGIN, Line
from abacus.oversight.erasure.erase import Erasure
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool
from tests.engage.journeys.travelling import DAY, JOURNEY, NOW, ZONE, come_in, entry, go, told
from tests.engage.journeys.unfolding import House, through
from tests.oversight.erasure.erasing import erase
from tests.support.fixed_clock import FixedClock
from tests.support.forgetting import eraser
from tests.support.waiting import waiting

MEMBER = "m1"


class Gate:
    """Is reached, and lets through once it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def pass_through(self) -> None:
        self.reached.set()
        await self.opened.wait()


async def kept_of(pool: Pool) -> list[tuple[str, bool]]:
    """The members of actions, and whether each is refused."""
    rows = await pool.fetch("select member_id, refused_at is not null from action order by key")
    return [tuple(row) for row in rows]


async def test_an_action_that_is_unfolded_now_is_waited_for(pool: Pool, owner: Pool) -> None:
    house, gate = House(pool, JOURNEY), Gate()
    await through(house, [1])

    async def held(deed: DeedRow, seats: Sequence[Seat]) -> Unfolded:
        await gate.pass_through()
        return await house.actions(deed, seats)

    unfolder, slice_ = house.unfolder_by(held), await slices.slice_of(pool, MEMBER)
    async with asyncio.TaskGroup() as at_once:
        at_once.create_task(unfolder.unfold(slice_, JOURNEY))
        await gate.reached.wait()
        erasing = at_once.create_task(erase(owner, MEMBER))
        await waiting(pool, erasing)
        gate.opened.set()
    assert await kept_of(pool) == [(erasing.result(), True)] * 2


async def test_nothing_is_unfolded_for_a_member_who_is_erased_now(pool: Pool, owner: Pool) -> None:
    house, gate = House(pool, JOURNEY), Gate()
    await through(house, [1])

    async def last(_: Connection, __: Erasure) -> None:
        await gate.pass_through()

    async with asyncio.TaskGroup() as at_once:
        at_once.create_task(eraser(owner).erase(MEMBER, by="alice", reason="asked to", also=last))
        await gate.reached.wait()
        unfolding = at_once.create_task(house.unfold())
        await waiting(pool, unfolding)
        gate.opened.set()
    assert (unfolding.result(), await kept_of(pool), await house.decided()) == (2, [], 0)


async def test_who_is_erased_amid_a_step_from_one_time_to_another_does_not_go_on(pool: Pool, owner: Pool) -> None:
    """Its seat would not be written."""
    clock, gate = FixedClock(NOW), Gate()
    await come_in(pool, Mover(go, clock), [entry(1)])

    async def on(journey: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        await gate.pass_through()
        return [Moved(each, (3,), (told(journey, each.seat, 3, now),), Waits(2, 1, now, ZONE)) for each in arrived]

    clock.set(NOW + 2 * DAY)
    slice_, line = await slices.slice_of(pool, MEMBER), Line(JOURNEY, awaits=False)
    async with asyncio.TaskGroup() as at_once:
        running = at_once.create_task(Mover(on, clock).run(slice_, line, BEGIN, clock.now(), MOST_PACKS))
        await gate.reached.wait()
        await erase(owner, MEMBER)
        gate.opened.set()
    assert (running.result().members, await kept_of(pool)) == (1, [])
