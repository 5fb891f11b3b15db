"""Definitions, lookups, and a store that is watched, for the tests of reading."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from abacus.core.errors import Unavailable
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.template import read_template
from abacus.signals.counters.decide.tiles import slots_of
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Count, Row, RowKey, SlotRange
from tests.signals.counters.store.wrapped import WrappedStore

NOW: Final = datetime(2026, 6, 10, 12, 7, tzinfo=UTC)
NOW_S: Final = int(NOW.timestamp())
HOUR_S: Final = 3600
DAY_S: Final = 24 * HOUR_S


def definition(template: str = "rain:{city_id}", **changes: Any) -> Definition:
    facts: dict[str, Any] = {
        "id": 34,
        "version": 1,
        "name": "count_rain",
        "template": read_template(template),
        "on": (("weather", "rain.drop"),),
        "published_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return Definition(**facts | changes)


def catalog(*definitions: Definition) -> Catalog:
    return Catalog(definitions, {})


def events(counter: Definition, key: str, moments: Mapping[int, int], *, writer: int = 1) -> list[Row]:
    """The rows that a writer would have saved for so many events at each of these seconds, each second once."""
    counts: dict[int, int] = {}
    for at, count in moments.items():
        for kept in slots_of(counter, at):
            counts[kept.slot] = counts.get(kept.slot, 0) + count
    stored = counter.stored_key(key)
    return [
        Row(RowKey(stored, slot, writer), Count(count, len(moments)), NOW_S + 3650 * DAY_S)
        for slot, count in counts.items()
    ]


class WatchedStore(WrappedStore):
    """A store, with what it was asked for. It can be away, or silent."""

    def __init__(self, store: CounterStore) -> None:
        super().__init__(store)
        self.asked: list[Sequence[SlotRange]] = []
        self.away: Unavailable | None = None
        self.talks = asyncio.Event()
        self.talks.set()

    @property
    def ranges(self) -> int:
        """How many it was asked for."""
        return sum(map(len, self.asked))

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        self.asked.append(ranges)
        await self.talks.wait()
        if self.away is not None:
            raise self.away
        return await self._store.sums(ranges)


class StoreInParts(WrappedStore):
    """A store in two parts, by the last digit of a key: odd, or even. Each can be away, or silent."""

    def __init__(self, store: CounterStore) -> None:
        super().__init__(store)
        self.asked = {"odd": 0, "even": 0}
        self.away: set[str] = set()
        self.silent: set[str] = set()

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        parts = await self.apart(ranges)
        for name in parts:
            self.asked[name or ""] += 1
        if self.silent.intersection(parts):
            await asyncio.Event().wait()
        if self.away.intersection(parts):
            raise Unavailable("database", "it is away")
        return await super().sums(ranges)

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        parts: dict[str | None, list[SlotRange]] = {}
        for each in ranges:
            parts.setdefault("odd" if int(each.key[-1]) % 2 else "even", []).append(each)
        return parts

    async def probes(self) -> Mapping[str | None, SlotRange]:
        return {"odd": SlotRange("1", 0, 0), "even": SlotRange("2", 0, 0)}
