"""Reads what running processes keep of answers, and the shares that are set."""

import difflib
from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.engage.nearby.nearby import ROUTE as CATEGORIES_HERE
from abacus.engage.nearby.offers_here import ROUTE as OFFERS_HERE
from abacus.engage.offers.members import MEMBERS
from abacus.oversight.status.decide.caches import CacheInUse, caches_in_use
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.reading.cache_shares import SettingStore
from abacus.platform.reading.decide.shares import are_off
from abacus.signals.counters.reading.closed_parts import COUNTS

CACHED_ROUTES: Final = (MEMBERS.name, OFFERS_HERE, CATEGORIES_HERE, COUNTS)


def cached_route(name: str) -> str:
    """The name of a route whose answers are kept. Raises `Refused` for another."""
    if name in CACHED_ROUTES:
        return name
    near = difflib.get_close_matches(name, CACHED_ROUTES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(CACHED_ROUTES)}"
    raise Refused(f"no route {name} keeps answers; {hint}")


class CachesNow(NamedTuple):
    """The caches of running processes, and whether all of them are switched off."""

    caches: Sequence[CacheInUse]
    are_off: bool


async def read_caches(pool: Pool, clock: Clock) -> CachesNow:
    """Raises `Unavailable`."""
    settings = {each.name: each for each in await SettingStore(pool, clock).all()}
    processes = await Presence(pool, clock).all()
    return CachesNow(caches_in_use(processes, settings, clock.now()), are_off(settings))
