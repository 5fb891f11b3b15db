"""A cache of parts, of which an answer has many: they are looked up at once, without awaiting, and read together with
what else their readers need. A part is fresh, then gone.

It belongs to one loop and has no lock.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar, cast

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.platform.reading.beside import Beside
from abacus.platform.reading.cache_figures import Figures
from abacus.platform.reading.decide.shelf import OVERHEAD, Kept, Shelf
from abacus.platform.reading.shared_answers import AS_OLD_S, shared_answers
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.platform.reading.types import Meaning, Route, Value

Part = TypeVar("Part", bound="tuple[Meaning, ...]")
Place = TypeVar("Place", bound="tuple[Meaning, ...]")

# Reads these parts, and adds their values to the mapping. Returns the failure that kept some parts from it.
Compute: TypeAlias = Callable[[Sequence[Part], dict[Part, Value]], Awaitable[Unavailable | None]]

_NOTHING_SHARED: Final = NothingShared()
_RNG: Final = random.Random()


class PartsRead(NamedTuple, Generic[Part, Value]):
    """What was found. A part whose value is missing could not be read, and the failure says why."""

    values: Mapping[Part, Value]
    failure: Unavailable | None = None


class _Held(NamedTuple, Generic[Value]):
    value: Value
    born: float
    until: float


class PartCache(Generic[Part, Value]):
    """The parts of one route in this process, and in the cache that processes share. The first item of a part is the
    key of its answer, and the others are its place there. Where there is no room, the parts of a key go together.

    Times are seconds since 1970. Callers ask for no part that may not be kept: by the `share`, or because it has
    changed since. So parts have no tags and no version, and readers have deadlines of their own.
    """

    def __init__(
        self,
        route: Route[Part, Value],
        *,
        clock: Clock,
        shared: SharedCache = _NOTHING_SHARED,
        rng: random.Random = _RNG,
    ) -> None:
        self.route: Final = route
        self.share = route.share  # in percent
        self._clock = clock
        self._rng = rng
        self._shared = shared_answers(route, shared, clock)
        self._shelf: Shelf[Meaning, dict[tuple[Meaning, ...], _Held[Value]]] = Shelf(route.most_bytes)
        self._by_key = self._shelf.by_key
        self._figures = Figures(route.name, self._shelf)
        self._flights: dict[Part, asyncio.Future[PartsRead[Part, Value]]] = {}
        self._beside = Beside()
        self._drops = 0

    def __len__(self) -> int:
        """Of how many keys parts are kept."""
        return len(self._shelf)

    @property
    def refreshing(self) -> int:
        """How many times parts are written for other processes, at the moment."""
        return len(self._beside)

    def known(self, key: Meaning, places: Iterable[Place], now: float) -> tuple[list[Value], list[Place]]:
        """The values of the parts of a key that are kept, and the places of those that `read` has to be asked for."""
        kept = self._by_key.get(key)
        if kept is None:
            return [], list(places)
        kept.asked = True
        held, found, missing = kept.value, [], []
        for place in places:
            part = held.get(place)
            if part is not None and part.until > now:
                found.append(part.value)
            else:
                missing.append(place)
        self._figures.hits.inc(len(found))
        return found, missing

    async def read(self, wanted: Sequence[Part], compute: Compute[Part, Value]) -> PartsRead[Part, Value]:
        """The values of these parts, and perhaps of others. One caller reads a part for all who want it meanwhile.
        `compute` is called once, also where there is nothing left to read.
        """
        found = dict[Part, Value]()
        if not wanted:
            return PartsRead(found, await compute((), found))
        mine, flights = dict[Part, None](), set[asyncio.Future[PartsRead[Part, Value]]]()
        now = self._now()
        for part in wanted:
            if part in mine or part in found:
                continue
            if (flight := self._flights.get(part)) is not None:
                flights.add(flight)
            elif (held := self._held(part)) is not None and held.until > now:
                found[part] = held.value
            else:
                mine[part] = None
        self._figures.waits.inc(len(wanted) - len(mine))
        failure = await self._flown(list(mine), found, compute)
        for flight in flights:
            values, why = await asyncio.shield(flight)  # who waits no longer ends it for nobody else
            found.update(values)
            failure = failure or why
        return PartsRead(found, failure)

    def limit(self, percent: int) -> None:
        """Parts of this share of the keys are kept from now on."""
        if percent < self.share:
            self._drop_all()
        self.share = percent

    async def close(self) -> None:
        await self._beside.close()
        self._drop_all()

    async def _flown(
        self, mine: Sequence[Part], found: dict[Part, Value], compute: Compute[Part, Value]
    ) -> Unavailable | None:
        if not mine:
            return await compute(mine, found)
        flight: asyncio.Future[PartsRead[Part, Value]] = asyncio.get_running_loop().create_future()
        self._flights.update(dict.fromkeys(mine, flight))
        failure: Unavailable | None = Unavailable(self.route.name, "the reading broke off")
        try:
            failure = await self._computed(mine, found, compute)
        finally:
            for part in mine:
                del self._flights[part]
            flight.set_result(PartsRead(found, failure))
        return failure

    async def _computed(
        self, mine: Sequence[Part], found: dict[Part, Value], compute: Compute[Part, Value]
    ) -> Unavailable | None:
        began = self._drops
        shared = await self._taken(mine)
        found.update(shared)
        unknown = [part for part in mine if part not in shared]
        failure = await compute(unknown, found)
        read = {part: found[part] for part in unknown if part in found}
        self._figures.misses.inc(len(read))
        self._figures.failed.inc(len(unknown) - len(read))
        if self._drops != began:
            self._figures.overtaken.inc(len(read))
        elif read:
            self._keep({part: (value, 0.0) for part, value in read.items()})
            if self._shared is not None:
                self._beside.begin(self._shared.keep(read, ()))
        return failure

    async def _taken(self, parts: Sequence[Part]) -> Mapping[Part, Value]:
        """What other processes have read since this one did."""
        if self._shared is None:
            return {}
        began, shared = self._drops, await self._shared.find(parts, ())
        now = self._now()
        news = {
            part: each
            for part, each in shared.items()
            if (held := self._held(part)) is None or now - each[1] > held.born + AS_OLD_S
        }
        self._figures.shared.inc(len(news))
        if self._drops == began:
            self._keep(news)
        return {part: value for part, (value, _) in news.items()}

    def _keep(self, values: Mapping[Part, tuple[Value, float]]) -> None:
        """Values and their ages."""
        now, lifetimes = self._now(), self.route.lifetimes
        came: dict[Meaning, dict[tuple[Meaning, ...], _Held[Value]]] = {}
        for part, (value, age_s) in values.items():
            born = now - age_s
            until = born + lifetimes.fresh_for(self._rng.random())
            came.setdefault(part[0], {})[part[1:]] = _Held(value, born, until)
        for key, parts in came.items():
            self._put(key, parts, now)

    def _put(self, key: Meaning, came: Mapping[tuple[Meaning, ...], _Held[Value]], now: float) -> None:
        kept = self._by_key.get(key)
        before = {} if kept is None else kept.value
        held = {place: each for place, each in before.items() if each.until > now}
        held.update(came)
        gone_at = max(each.until for each in held.values())
        size_of = self.route.size_of
        size = OVERHEAD + sum(size_of(cast("Part", (key, *place)), each.value) for place, each in held.items())
        new = Kept(key, held, born=now, fresh_until=gone_at, stale_until=gone_at, gone_at=gone_at, size=size)
        if went := self._shelf.put(new, now):
            self._figures.evicted.inc(went)

    def _held(self, part: Part) -> _Held[Value] | None:
        kept = self._by_key.get(part[0])
        return None if kept is None else kept.value.get(part[1:])

    def _drop_all(self) -> None:
        self._drops += 1
        self._figures.dropped.inc(len(self._shelf))
        self._shelf.clear()

    def _now(self) -> float:
        return self._clock.now().timestamp()
