"""What is counted of a cache: the series of its metrics, found once."""

from typing import Any, Final
from weakref import WeakSet

from abacus.platform.metrics import CACHE_ANSWERS, CACHE_BYTES, CACHE_ENTRIES, CACHE_LET_GO, CACHE_STALE_SECONDS
from abacus.platform.reading.decide.shelf import Kept, Shelf
from abacus.platform.reading.types import Answer, Key, Value

_SHELVES: Final[dict[str, "WeakSet[Shelf[Any, Any]]"]] = {}  # of this process, by route


class Figures:
    """Of one cache and its shelf. Caches of one route in a process, such as those of a sandbox, add up."""

    def __init__(self, route: str, shelf: Shelf[Any, Any]) -> None:
        shelves = _SHELVES.setdefault(route, WeakSet())
        shelves.add(shelf)
        CACHE_ENTRIES.labels(route).set_function(lambda: sum(len(each) for each in shelves))
        CACHE_BYTES.labels(route).set_function(lambda: sum(each.bytes for each in shelves))
        self.hits = CACHE_ANSWERS.labels(route, "hit")
        self.shared = CACHE_ANSWERS.labels(route, "shared")
        self.waits = CACHE_ANSWERS.labels(route, "wait")
        self.misses = CACHE_ANSWERS.labels(route, "miss")
        self.passed = CACHE_ANSWERS.labels(route, "passed")
        self.failed = CACHE_ANSWERS.labels(route, "failed")
        self.evicted = CACHE_LET_GO.labels(route, "room")
        self.dropped = CACHE_LET_GO.labels(route, "change")
        self.overtaken = CACHE_LET_GO.labels(route, "overtaken")
        self._stale = CACHE_ANSWERS.labels(route, "stale")
        self._away = CACHE_ANSWERS.labels(route, "away")
        self._ages = CACHE_STALE_SECONDS.labels(route)

    def told_stale(self, kept: Kept[Key, Value], now: float) -> Answer[Value]:
        self._stale.inc()
        return self._old(kept, now)

    def told_away(self, kept: Kept[Key, Value], now: float) -> Answer[Value]:
        self._away.inc()
        return self._old(kept, now)

    def _old(self, kept: Kept[Key, Value], now: float) -> Answer[Value]:
        age_s = now - kept.born
        self._ages.observe(age_s)
        return Answer(kept.value, age_s)
