"""Journeys for tests, on which events happen and to which orders come."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from abacus.engage.actions.action_store import ActionStore, plan
from abacus.engage.actions.types import PlannedAction
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.orders import CALLER, Asking, end_order, start_order
from abacus.engage.journeys.decide.version_events import events_of
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.follower import JourneyFollower, JourneyTopics
from abacus.engage.journeys.gate import Gate
from abacus.engage.journeys.goals import Goals
from abacus.engage.journeys.happenings import Happenings
from abacus.engage.journeys.heard import HeardStore
from abacus.engage.journeys.late_entries import LateEntries
from abacus.engage.journeys.late_moves import LateMoves
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.order_taker import OrderTaker
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.types import Event
from abacus.signals.facts.types import FactRegistry
from tests.engage.campaigns.offers import CARDS, NOW
from tests.engage.journeys.examples import AROUND
from tests.engage.journeys.test_walks import Tiers, Versions, walks
from tests.support.fixed_clock import FixedClock
from tests.support.memory_quarantine import MemoryQuarantine

HOUR = timedelta(hours=1)


class Stage:
    """Journeys that run, each in the last of its versions, and others that have ended."""

    def __init__(
        self,
        pool: Pool,
        *versions: Journey,
        tiers: Tiers | None = None,
        holdout: int = 0,
        ended: Collection[str] = (),
    ) -> None:
        self.pool = pool
        self.clock = FixedClock(NOW)
        self.tiers = tiers or Tiers({})
        newest = {each.name: each for each in versions}
        beside = replace(AROUND.beside, holdouts={"SG": holdout})
        around = replace(AROUND, beside=beside)
        asked = [events_of(each) for each in versions]
        self.running = Running(asked, list(newest.values()), around, ended=frozenset(ended))
        self.cards = CardBook(CARDS.values())
        self.around = AROUND
        going = walks(*versions, tiers=self.tiers, around=lambda: self.around)
        mover = self.mover = Mover(going, self.clock, go_together=going.together)
        self.armed = ArmedVersions(Versions(*versions).of, lambda: self.around)
        self.gate = Gate(
            self.armed,
            mover,
            FactRegistry(self.tiers),
            holdouts=lambda: beside.holdouts,
            cards=lambda: self.cards,
            pool=pool,
            clock=self.clock,
        )
        self.late = LateEntries(
            lambda: self.running,
            self.gate,
            self.armed,
            pool=pool,
            clock=self.clock,
            health=WorkerHealth("journeyer"),
        )
        self.moves = LateMoves(
            lambda: self.running, mover, self.armed, pool=pool, clock=self.clock, health=WorkerHealth("journeyer")
        )
        self._happenings = Happenings(lambda: self.running, self.moves, self.late)
        self.over = PassedOver(pool)
        self._orders = OrderTaker(
            lambda: self.running,
            self.gate,
            mover,
            ActionStore(pool, self.clock),
            pool=pool,
            clock=self.clock,
            health=WorkerHealth("journeyer"),
        )

    def follower(self, topic: str) -> JourneyFollower:
        """The follower of the events topic, under this name."""
        goals = Goals(
            lambda: self.running, self.armed, FactRegistry(self.tiers), cards=lambda: self.cards, clock=self.clock
        )
        return JourneyFollower(
            topic,
            JourneyTopics(lambda: self.running, topic),
            self._happenings,
            goals,
            HeardStore(self.pool),
            quarantine=MemoryQuarantine(self.clock),
            pool=self.pool,
            clock=self.clock,
            health=WorkerHealth("journeyer"),
        )

    async def happen(self, *events: Event, at: datetime = NOW) -> None:
        self.clock.set(at)
        await self._happenings.happen(events, self.over)

    async def start(
        self, member_id: str, context: Mapping[str, Any], key: str = "api:acme:1", *, journey: str = "welcome"
    ) -> None:
        """A partner asks for it."""
        asking = Asking(journey, member_id, key, CALLER, "partner:acme")
        await self._ask(start_order(asking, context, self.clock.now()))

    async def end(self, member_id: str, key: str = "api:acme:2", *, journey: str = "welcome") -> None:
        await self._ask(end_order(Asking(journey, member_id, key, "journey", "back"), self.clock.now()))

    async def take(self, at: datetime = NOW) -> int:
        """Until no order is left that can be taken; the number of them."""
        self.clock.set(at)
        taken, stop = 0, asyncio.Event()
        while some := await self._orders.round(stop):
            taken += some
        return taken

    async def look_again(self, after: timedelta) -> int:
        """At what waits, once; how much that is."""
        self.clock.set(NOW + after)
        return await self.moves.round(asyncio.Event()) + await self.late.round(asyncio.Event())

    async def visits(self) -> Sequence[tuple[Any, ...]]:
        rows = await self.pool.fetch("select member_id, visit, version, why from seat order by 1, 2")
        return [tuple(row) for row in rows]

    async def orders(self) -> Sequence[tuple[Any, ...]]:
        """Member, whether it is done, and why it was refused."""
        rows = await self.pool.fetch(
            "select member_id, done_at is not null, reason from action where starts_with(receiver, 'journey:')"
            " order by member_id, due_at, key"
        )
        return [tuple(row) for row in rows]

    async def _ask(self, action: PlannedAction) -> None:
        async with slices.at(self.pool, action.member_id) as connection:
            await plan(connection, [action], self.clock.now())
