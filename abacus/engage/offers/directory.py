"""The offers in force, as a process keeps them: all are read at the start, then those that have changed."""

import asyncio
import gc
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.fields import EARLIEST, DocumentFaults, Fault
from abacus.documents.directory import NOTHING_READ, Moment, read_moment
from abacus.documents.statements import Statements
from abacus.documents.store import Reader
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.vocabulary import compiled
from abacus.engage.offers.kind import OFFERS
from abacus.engage.offers.metrics import OFFERS_IN_FORCE, OFFERS_UNFIT
from abacus.engage.offers.publications import rule_publications
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.postgres import Pool, pages, passing_failures
from abacus.platform.sql import Statement
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.facts.decide.catalog import MEMBER, SEGMENT
from abacus.signals.rules.decide.names import AnyName
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.rules.decide.types import Side

_CADENCE: Final = Cadence(load_within_s=120.0)
# Offers that are read at once: each takes a tenth of a millisecond, and requests are answered in between. At the start
# there are none but probes.
_AT_ONCE: Final = 40
_AT_THE_START: Final = 1_000
# While requests are answered some hundred thousand values come that stay: a search for garbage goes through a few
# thousand of them at a time.
_SHORT_SEARCHES: Final = (5_000, 2, 200)
_LONGEST_CHANGE: Final = timedelta(minutes=1)  # from the time of a change until others see it
_KNOWN_BEFOREHAND: Final = frozenset({MEMBER, SEGMENT})

_RUNS: Final = "status = 'approved' and ends_at > :now"
# With the version that is in force, if there is one.
_CHANGED: Final = Statement(f"""
select c.name, d.version from (select distinct name from offer where changed_at >= :since) c
left join offer d on d.name = c.name and {_RUNS}
""")
_NAMES: Final = Statement(f"select name from offer where {_RUNS} order by name")
# A range of names, which is one walk along the primary key.
_RANGE: Final = Statements(OFFERS.table).where(f"d.name >= :first and d.name <= :last and {_RUNS}")
_THESE: Final = Statements(OFFERS.table).where(
    "(d.name, d.version) in (select * from unnest(:names::text[], :versions::integer[]))"
)


class _Read(NamedTuple):
    """What is published beside the offers, and until when their changes were read."""

    beside: Moment
    until: datetime


class OfferDirectory(FreshCopy[_Read, OfferIndex]):
    """Serves the index of the offers in force. Every method raises `Unavailable` when they were never read.

    The index is one and the same: a change costs as much as the offers that have changed. `use` is told the segments
    that rules ask for.
    """

    def __init__(self, pool: Pool, clock: Clock, use: Callable[[Collection[str]], None]) -> None:
        self._pool = pool
        self._clock = clock
        self._use = use
        self._reader = Reader(OFFERS)
        self._index = OfferIndex()
        self._around = OfferPublications(EARLIEST, segments=AnyName())
        self._offers: dict[str, Offer] = {}
        self._ends: list[tuple[datetime, str, int]] = []  # a heap
        self._asking: dict[str, frozenset[Side]] = {}  # what rules look up beside the member, by offer
        self._outdated: set[str] = set()  # offers whose rules are to be compiled anew
        self._segments: Counter[str] = Counter()
        self._segments_of: dict[str, frozenset[str]] = {}
        self.misfits: dict[str, Sequence[Fault]] = {}
        super().__init__(OFFERS.plural, self._load, lambda _: self._index, _CADENCE)
        self.tables = [kind.table.name for kind in (OFFERS, COUNTERS, DOWNSTREAMS)]  # whose changes are read

    def offers(self) -> Collection[Offer]:
        """The offers in force."""
        self.value()
        return self._offers.values()

    def around(self) -> OfferPublications:
        """What was published when the offers were read."""
        self.value()
        return self._around

    async def _load(self, before: _Read | None) -> _Read:
        now = self._clock.now()
        beside = await read_moment(self._pool, COUNTERS, DOWNSTREAMS, before=before.beside if before else NOTHING_READ)
        await self._compile_anew(beside, now)
        if before is None:
            await self._read_all(now)
        else:
            await self._read_changed(before.until - _LONGEST_CHANGE, now)
        self._use([*self._segments])
        OFFERS_IN_FORCE.set(len(self._index))
        OFFERS_UNFIT.set(len(self.misfits))
        return _Read(beside, now)

    async def _read_all(self, now: datetime) -> None:
        for name in [*self._offers]:  # of a reading that was broken off
            self._remove(name)
        async with passing_failures():
            names = [row[0] for row in await self._pool.fetch(*_NAMES(now=now))]
        for first in range(0, len(names), _AT_THE_START):
            some = names[first : first + _AT_THE_START]
            for each in await self._documents(_RANGE, first=some[0], last=some[-1], now=now):
                self._put(each)
            if len(some) == _AT_THE_START:
                gc.freeze()  # a search for garbage among a hundred thousand offers, which stay, takes a second
        await asyncio.to_thread(self._index.warm)
        if len(names) > _AT_THE_START:
            gc.freeze()
            gc.set_threshold(*_SHORT_SEARCHES)

    async def _read_changed(self, since: datetime, now: datetime) -> None:
        new: list[tuple[str, int]] = []
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            # Requests are answered between two pages: in a minute a hundred thousand offers may have changed.
            async for page in pages(connection, *_CHANGED(since=since, now=now)):
                for name, version in page:
                    known = self._offers.get(name)
                    if version is None:
                        self._remove(name)
                    elif known is None or known.version != version:
                        new.append((name, version))
        for first in range(0, len(new), _AT_ONCE):
            names, versions = zip(*new[first : first + _AT_ONCE], strict=True)
            for each in await self._documents(_THESE, names=names, versions=versions):
                self._put(each)
        while self._ends and self._ends[0][0] <= now:
            _, name, version = heappop(self._ends)
            if (ended := self._offers.get(name)) is not None and ended.version == version:
                self._remove(name)

    async def _documents(self, statement: Statement, **given: Any) -> list[Offer]:
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            records = await self._reader.found(connection, statement(known=[], **given))
        return [each.document for each in records]

    async def _compile_anew(self, beside: Moment, now: datetime) -> None:
        """Where other counters or services are published, the rules that ask for some."""
        self._see_what_is_outdated(beside, now)
        while self._outdated:
            for _ in range(min(_AT_ONCE, len(self._outdated))):
                self._put(self._offers[self._outdated.pop()])
            await asyncio.sleep(0)

    def _see_what_is_outdated(self, beside: Moment, now: datetime) -> None:
        around = rule_publications(beside, now)
        if (self._around.counters, self._around.externals) == (around.counters, around.externals):
            return
        self._around = around
        self._outdated |= {*self._asking, *self.misfits}

    def _put(self, offer: Offer) -> None:
        self._remove(offer.name)
        self._offers[offer.name] = offer
        heappush(self._ends, (offer.ends_at, offer.name, offer.version))
        try:
            rule = compiled(offer.when, self._around)
        except DocumentFaults as error:
            self.misfits[offer.name] = error.faults
            return
        self._index.put(offer, rule)
        if rule is None:
            return
        sides = frozenset(looked_up_sides(rule))
        if any(side.place not in _KNOWN_BEFOREHAND for side in sides):
            self._asking[offer.name] = sides
        if segments := frozenset(side.name for side in sides if side.place == SEGMENT):
            self._segments_of[offer.name] = segments
            self._segments.update(segments)

    def _remove(self, name: str) -> None:
        offer = self._offers.pop(name, None)
        if offer is None:
            return
        self._index.remove(offer.number)
        self.misfits.pop(name, None)
        self._asking.pop(name, None)
        self._outdated.discard(name)
        self._segments.subtract(segments := self._segments_of.pop(name, frozenset()))
        for each in segments:
            if not self._segments[each]:
                del self._segments[each]
