"""Members who cannot be moved, and deeds that cannot be done for them, are set aside with the fault, and nobody else
waits for them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from abacus.core.errors import LineStopped
from abacus.engage.journeys.aside_rows import What, aside, put_back
from abacus.engage.journeys.decide.seat import Arrived, Moved, Seat
from abacus.engage.journeys.deed_actions import Unfolded
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.journeyer import SLICES_AT_ONCE
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.report import glance
from abacus.engage.journeys.sifter import MOST_IN_A_ROW
from abacus.platform import slices
from abacus.platform.postgres import Pool
from tests.engage.journeys.examples import journey
from tests.engage.journeys.test_journeyer import journeyer, rounds
from tests.engage.journeys.test_walks import number
from tests.engage.journeys.travelling import DAY, JOURNEY, NOW, come_in, effects, entry, go, mover, waiting
from tests.engage.journeys.unfolding import WAYS, House, deed_actions, through
from tests.support.fixed_clock import FixedClock


@dataclass
class Faulty:
    """Moves members, but for some, whose action Postgres does not take."""

    members: Collection[int]
    tried: list[int] = field(default_factory=list)

    async def __call__(self, journey: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        self.tried.append(len(arrived))
        return [self._faulty(each) for each in await go(journey, arrived, now)]

    def _faulty(self, moved: Moved) -> Moved:
        if moved.arrived.seat.member not in self.members:
            return moved
        return moved._replace(actions=[each._replace(document=b"{") for each in moved.actions])


async def test_one_member_who_cannot_be_moved_holds_up_nobody(pool: Pool) -> None:
    clock = FixedClock(NOW)
    await come_in(pool, mover(clock), [entry(each) for each in range(40)])
    clock.set(NOW + 2 * DAY)
    faulty = Faulty({17})
    await rounds(journeyer(pool, Mover(faulty, clock), clock))
    assert await effects(pool) == {"3": 39}
    (found,) = await aside(pool)
    assert (found.journey, found.node, found.members, found.since) == (JOURNEY, 2, 1, clock.now())
    assert "json" in found.fault
    assert len(faulty.tried) < 20
    assert (await glance(pool, JOURNEY)).inside == 40
    assert await rounds(journeyer(pool, mover(clock), clock)) == 0  # it waits until somebody puts it back
    assert await put_back(pool, "another", NOW) == 0
    assert await put_back(pool, JOURNEY, NOW) == 1
    await rounds(journeyer(pool, mover(clock), clock))
    assert (await effects(pool), await aside(pool), await waiting(pool)) == ({"3": 40}, [], 40)


async def test_who_left_before_is_counted_once_where_a_pack_is_sifted(pool: Pool) -> None:
    clock = FixedClock(NOW)
    await come_in(pool, mover(clock), [entry(each) for each in range(4)])
    await pool.execute("update seat set left_at = now(), why = 'x' where member_id = 'm1'")
    clock.set(NOW + 2 * DAY)
    await rounds(journeyer(pool, Mover(Faulty({2}), clock), clock))
    assert await pool.fetchval("select sum(members) from journey_sum where outcome = 'gone'") == 1


async def test_where_nobody_can_be_moved_the_worker_stops(pool: Pool) -> None:
    """Before it has set everybody aside."""
    clock = FixedClock(NOW)
    for each in range(30):
        clock.set(NOW + timedelta(seconds=each))
        await come_in(pool, mover(clock), [entry(each)])
    clock.set(NOW + 2 * DAY)
    with pytest.raises(LineStopped):
        await rounds(journeyer(pool, Mover(Faulty(range(30)), clock), clock))
    set_aside = sum(each.members for each in await aside(pool))
    assert set_aside in range(MOST_IN_A_ROW, MOST_IN_A_ROW + SLICES_AT_ONCE)  # those under way beside it are ended
    assert await waiting(pool) == 30 - set_aside > 0


async def test_a_deed_that_cannot_be_done_for_a_member_holds_up_nobody(pool: Pool) -> None:
    """What the member brought along does not fit the version."""
    house = House(pool, JOURNEY, entry={"api": True}, context={"trip": "integer"})
    (of,) = house.journeys.values()
    await house.come_in(of, [9], b'{"trip": 7}')
    await through(house, range(3))
    at_fault = house.unfolder_by(deed_actions(journey(**WAYS)))  # which knows of no trip
    both = {(number(of, node), What.DEED, 1) for node in ("hello", "gift")}
    for back in (0, 2):  # it is tried again by command, and set aside again while nothing was mended
        assert (await put_back(pool, "another", NOW), await put_back(pool, JOURNEY, NOW)) == (0, back)
        await house.unfold(at_fault)
        found = await aside(pool, JOURNEY)
        assert {(each.node, each.what, each.members) for each in found} == both
        assert all("trip" in each.fault for each in found)
        assert (len(await house.keys()), await house.decided()) == (6, 0)
    assert await put_back(pool, JOURNEY, NOW) == 2
    await house.unfold()
    assert (len(await house.keys()), await aside(pool)) == (8, [])
    decided = await pool.fetch("select distinct decided_at from action")
    assert [row[0] for row in decided] == [house.clock.now()]


async def test_an_action_that_postgres_does_not_take_holds_up_nobody(pool: Pool) -> None:
    house = House(pool, JOURNEY)
    await through(house, range(9))

    async def faulty(deed: DeedRow, seats: Sequence[Seat]) -> Unfolded:
        made = (await house.actions(deed, seats)).made
        return Unfolded([(who, act._replace(document=b"{") if who.member == 7 else act) for who, act in made], [])

    await house.unfold(house.unfolder_by(faulty))
    found = await aside(pool, JOURNEY)
    assert [(each.what, each.members, "json" in each.fault) for each in found] == [(What.DEED, 1, True)] * 2
    assert (len(await house.keys()), await house.decided()) == (16, 0)
    assert await put_back(pool, JOURNEY, NOW) == 2
    await house.unfold()
    assert (len(await house.keys()), await aside(pool)) == (18, [])


async def test_where_no_deed_can_be_made_the_worker_stops(pool: Pool) -> None:
    house = House(pool, JOURNEY)
    await through(house, [1])

    async def never(_: DeedRow, seats: Sequence[Seat]) -> Unfolded:
        return Unfolded([], [(each, "a bug") for each in seats])

    unfolder, slice_ = house.unfolder_by(never), await slices.slice_of(pool, "m1")
    for _ in range(20):
        await unfolder.unfold(slice_, JOURNEY)
        await put_back(pool, JOURNEY, NOW)
    with pytest.raises(LineStopped, match="a bug"):
        await unfolder.unfold(slice_, JOURNEY)
    assert (await house.decided(), await aside(pool)) == (2, [])
