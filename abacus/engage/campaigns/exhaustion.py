"""Ends campaigns that have come to their limits, for all processes at once: when that happens, and for a process that
died just then, a while later.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.sources import campaign_source
from abacus.engage.campaigns.campaign_store import CampaignStore, Change
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.states import Act
from abacus.engage.campaigns.directory import InForce
from abacus.engage.limits.decide.pots import EVER, Pot, is_exhausted
from abacus.engage.limits.pot_store import Limited, PotStore
from abacus.people.store.audit import entry_of, write
from abacus.people.types.deed import Deed, Entry
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices.sliced import unless_away

_WHY: Final = "its limit is reached"
_LOOK_EVERY_S: Final = 60.0

log = structlog.get_logger(__name__)


class CampaignExhaustion:
    """Marks campaigns as exhausted, and writes that into the log of deeds."""

    def __init__(self, store: CampaignStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def mark(self, campaigns: Sequence[Campaign]) -> None:
        """Nothing happens to one that is not in force any more. Raises `Unavailable`."""
        for campaign in campaigns:
            now, source = self._clock.now(), campaign_source(campaign.name)
            entry = entry_of(source, Deed.EDIT_CAMPAIGNS, source, now, country=campaign.country, did="exhausted")

            async def also(connection: Connection, entry: Entry = entry) -> None:
                await write(connection, [entry])

            with suppress(Refused):
                await self._store.move(campaign.name, campaign.version, Act.EXHAUST, Change(source, now, _WHY), also)
                log.info("campaign exhausted", campaign=campaign.label)


class ExhaustionWatch:
    """Looks from time to time whether a campaign is at its limit that nobody has marked."""

    def __init__(
        self,
        pool: Pool,
        in_force: Callable[[], InForce],
        exhaustion: CampaignExhaustion,
        health: WorkerHealth,
        *,
        every_s: float = _LOOK_EVERY_S,
    ) -> None:
        self._pool = pool
        self._pots = PotStore(pool, 0)
        self._in_force = in_force
        self._exhausting = exhaustion
        self._health = health
        self._every_s = every_s

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set."""
        while not stop.is_set():
            await unless_stopped(until_available(self.look, self._health), stop)
            self._health.ready()
            await unless_stopped(asyncio.sleep(self._every_s), stop)

    async def look(self) -> None:
        """Nothing is told while the server of a slice is away. Raises `Unavailable` when more is."""
        await unless_away(self._pool, self._look())

    async def _look(self) -> None:
        bounded = {Pot(each.name, EVER): each for each in self._in_force().index.bounded()}
        limited = {pot: Limited(each.limits.overall, each.version) for pot, each in bounded.items()}
        left = await self._pots.left(limited)
        seeming = {pot: limited[pot] for pot, rest in left.items() if is_exhausted(bounded[pot], rest)}
        left = await self._pots.exactly_left(seeming)
        await self._exhausting.mark([bounded[pot] for pot, rest in left.items() if is_exhausted(bounded[pot], rest)])
