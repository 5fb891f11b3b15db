"""A journey by its document, with members who enter, are moved by events, and go on when their time has come."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.seat import Entry
from abacus.engage.journeys.decide.version_events import events_of
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.goals import Goals
from abacus.engage.journeys.mover import MOST_PACKS, Mover
from abacus.engage.journeys.pack_rows import BEGIN, Line
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event
from abacus.signals.facts.types import FactRegistry, Found
from tests.engage.campaigns.offers import CARDS, NOW, order
from tests.engage.journeys.examples import AROUND
from tests.engage.journeys.test_walks import Tiers, Versions, walks
from tests.engage.journeys.travelling import any_visit
from tests.support.fixed_clock import FixedClock

_CARDS: Final = CardBook(CARDS.values())


class Trip:
    """The last of the versions takes members in."""

    def __init__(self, pool: Pool, *versions: Journey, tiers: Mapping[str, Found] | None = None) -> None:
        self.pool = pool
        self.journey = versions[-1]
        self.clock = FixedClock(NOW)
        self.versions = Versions(*versions)
        self.armed = ArmedVersions(self.versions.of, lambda: AROUND)
        self.tiers = Tiers(tiers or {})
        self.running = Running([events_of(each) for each in versions], versions[-1:], AROUND)
        zone = self.journey.zone
        self.mover = Mover(walks(*versions, tiers=self.tiers), self.clock, lambda _: zone)
        facts = FactRegistry(self.tiers)
        self._goals = Goals(lambda: self.running, self.armed, facts, cards=lambda: _CARDS, clock=self.clock)

    async def enter(self, *members: int) -> None:
        """The members, each by an order of its own."""
        journey = self.journey
        entries = [
            Entry(
                f"m{each}",
                each,
                journey.name,
                journey.version,
                f"e-{each}",
                journey.country,
                event=encode_event(order(each, f"m{each}")._replace(occurred_at=self.clock.now())),
            )
            for each in members
        ]

        async def work(slice_: slices.Slice, part: Sequence[Entry]) -> None:
            await self.mover.enter(slice_, part, any_visit, journey.nodes[journey.begin].number)

        (await slices.split(self.pool, entries, work, patience_s=None)).whole()

    async def happen(self, *events: Event) -> None:
        """Events of different members, read as they happen, move these, and may be the goal."""
        self.clock.set(max([self.clock.now(), *(each.occurred_at for each in events)]))

        async def work(slice_: slices.Slice, part: Sequence[Event]) -> int:
            by_member = {_member(each): each for each in part}
            return await self.mover.hear(slice_, self.journey.name, by_member, lambda _, __: True)

        (await slices.split(self.pool, events, work, member_of=_member, patience_s=None)).whole()
        await self._goals.reach(events, PassedOver(self.pool))

    async def pass_to(self, at: datetime) -> None:
        """Everybody goes on whose time has come by then."""
        self.clock.set(at)
        for slice_ in await slices.slices_of(self.pool):
            for line in (Line(self.journey.name, awaits) for awaits in (False, True)):
                while (await self.mover.run(slice_, line, BEGIN, at, MOST_PACKS)).packs:
                    pass


def _member(event: Event) -> str:
    return event.member_id or ""
