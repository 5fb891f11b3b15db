"""A house in which deeds are decided for members together, and unfolded."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.deed_actions import DeedActions
from abacus.engage.journeys.mover import MOST_PACKS, Mover, anywhere
from abacus.engage.journeys.pack_rows import BEGIN, Line
from abacus.engage.journeys.unfolder import ActionsOf, Unfolder
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from tests.engage.campaigns.offers import CARDS, NOW
from tests.engage.journeys.examples import AROUND, HELLO, journey, nodes
from tests.engage.journeys.test_walks import GIFT, Versions, number, walks
from tests.engage.journeys.travelling import any_visit, entry
from tests.support.fixed_clock import FixedClock

NEXT_DAY = NOW + timedelta(days=1, seconds=2)
DAY = {"wait": {"for": "24h"}, "next": "hello"}
WAYS = nodes("day", day=DAY, hello={"do": HELLO, "next": "gift"}, gift=GIFT)


def deed_actions(*journeys: Journey) -> DeedActions:
    """Makes actions of deeds that these journeys have decided."""
    versions, cards = Versions(*journeys), CardBook(CARDS.values())
    return DeedActions(versions.of, ArmedVersions(versions.of, lambda: AROUND), lambda: cards)


class House:
    """Members of journeys with a wait, after which two things are done for each."""

    def __init__(self, pool: Pool, *names: str, **changes: Any) -> None:
        self._pool = pool
        self.clock = FixedClock(NOW)
        self.journeys = {name: journey(name=name, **WAYS, **changes) for name in names}
        of = walks(*self.journeys.values())
        self.moving = Mover(of, self.clock, anywhere, of.together)
        self.actions = deed_actions(*self.journeys.values())
        self.unfolder = self.unfolder_by(self.actions)

    def unfolder_by(self, actions: ActionsOf) -> Unfolder:
        health = WorkerHealth("journeyer")
        return Unfolder(actions, lambda: self.journeys, pool=self._pool, clock=self.clock, health=health)

    async def come_in(self, of: Journey, members: Sequence[int], context: bytes | None = None) -> None:
        async def work(slice_: slices.Slice, part: Sequence[int]) -> None:
            entries = [entry(each, of.name)._replace(context=context) for each in part]
            await self.moving.enter(slice_, entries, any_visit, number(of, "day"))

        await slices.split(self._pool, members, work, member_of=lambda each: f"m{each}", patience_s=None)

    async def run(self, of: Journey) -> int:
        """All packs that are due; the number of members."""
        ran = 0
        for slice_ in await slices.slices_of(self._pool):
            line = Line(of.name, awaits=False)
            while (one := await self.moving.run(slice_, line, BEGIN, self.clock.now(), MOST_PACKS)).packs:
                ran += one.members
        return ran

    async def unfold(self, unfolder: Unfolder | None = None) -> int:
        """All that was decided; the number of deeds."""
        done, unfolder = 0, unfolder or self.unfolder
        for slice_ in await slices.slices_of(self._pool):
            for name in self.journeys:
                while some := await unfolder.unfold(slice_, name):
                    done += len(some)
        return done

    async def keys(self) -> list[str]:
        return [row[0] for row in await self._pool.fetch("select key from action order by key")]

    async def decided(self) -> int:
        return int(await self._pool.fetchval("select coalesce(sum(cardinality(members)), 0) from journey_deed"))


async def through(house: House, members: Sequence[int]) -> Journey:
    """Members come in, and what is behind the wait is decided."""
    (of,) = house.journeys.values()
    await house.come_in(of, members)
    house.clock.set(NEXT_DAY)
    assert await house.run(of) >= len(members)
    return of
