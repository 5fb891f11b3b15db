"""Reads what running processes keep of answers, and the shares that are set."""

from collections.abc import Sequence
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.oversight.status.decide.caches import CacheInUse, caches_in_use
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.reading.cache_shares import SettingStore
from abacus.platform.reading.decide.shares import are_off


class CachesNow(NamedTuple):
    """The caches of running processes, and whether all of them are switched off."""

    caches: Sequence[CacheInUse]
    are_off: bool


async def read_caches(pool: Pool, clock: Clock) -> CachesNow:
    """Raises `Unavailable`."""
    settings = {each.name: each for each in await SettingStore(pool, clock).all()}
    processes = await Presence(pool, clock).all()
    return CachesNow(caches_in_use(processes, settings, clock.now()), are_off(settings))
