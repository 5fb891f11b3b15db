"""Members who cannot be moved are set aside with the fault, and nobody else waits for them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from abacus.core.errors import LineStopped
from abacus.engage.journeys.aside_rows import aside, put_back
from abacus.engage.journeys.decide.seat import Arrived, Moved
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.report import glance
from abacus.platform.postgres import Pool
from tests.engage.journeys.test_journeyer import journeyer, rounds
from tests.engage.journeys.travelling import DAY, JOURNEY, NOW, come_in, effects, entry, go, mover, waiting
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
    await come_in(pool, mover(clock), [entry(number) for number in range(40)])
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
    assert await put_back(pool, "another") == 0
    assert await put_back(pool, JOURNEY) == 1
    await rounds(journeyer(pool, mover(clock), clock))
    assert (await effects(pool), await aside(pool), await waiting(pool)) == ({"3": 40}, [], 40)


async def test_who_left_before_is_counted_once_where_a_pack_is_sifted(pool: Pool) -> None:
    clock = FixedClock(NOW)
    await come_in(pool, mover(clock), [entry(number) for number in range(4)])
    await pool.execute("update seat set left_at = now(), why = 'x' where member_id = 'm1'")
    clock.set(NOW + 2 * DAY)
    await rounds(journeyer(pool, Mover(Faulty({2}), clock), clock))
    assert await pool.fetchval("select sum(members) from journey_sum where outcome = 'gone'") == 1


async def test_where_nobody_can_be_moved_the_worker_stops(pool: Pool) -> None:
    """Before it has set everybody aside."""
    clock = FixedClock(NOW)
    for number in range(30):
        clock.set(NOW + timedelta(seconds=number))
        await come_in(pool, mover(clock), [entry(number)])
    clock.set(NOW + 2 * DAY)
    with pytest.raises(LineStopped):
        await rounds(journeyer(pool, Mover(Faulty(range(30)), clock), clock))
    assert (sum(each.members for each in await aside(pool)), await waiting(pool)) == (20, 10)
