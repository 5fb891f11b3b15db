"""Adds events to rows: reads them, leaves repeats out, loads the rows that are not open, and saves all that changed."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.counters.decide.batch import (
    NOTHING,
    Cell,
    Findings,
    Reading,
    Remembering,
    added,
    cells,
    examine,
)
from abacus.engage.counters.decide.counting import NotCounted
from abacus.engage.counters.decide.definition import Definition
from abacus.engage.counters.open_rows import OpenRows
from abacus.engage.counters.series import Tally
from abacus.engage.counters.store.port import CounterStore
from abacus.engage.counters.topic import print_of
from abacus.engage.counters.types import Row, RowKey
from abacus.engage.events.replaying import event_item
from abacus.platform.ahead import one_ahead
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import COUNTER_ROWS, COUNTER_ROWS_LOADED, COUNTER_ROWS_SAVED
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item

_PIECE: Final = 5_000


class Work(NamedTuple):
    """The next records of a writer."""

    reading: Reading
    records: Sequence[Record]


class _Examined(NamedTuple):
    work: Work
    findings: Findings


class Outcome(NamedTuple):
    """What became of a writer's events: `seen` is the sum of the four after it. `not_counted` has the definitions for
    which an event did not count although its type does, with the reason.
    """

    seen: int = 0
    counted: int = 0
    ignored: int = 0
    repeated: int = 0
    set_aside: int = 0
    not_counted: Mapping[tuple[Definition, NotCounted], int] = MappingProxyType({})

    def plus(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.seen + other.seen,
            self.counted + other.counted,
            self.ignored + other.ignored,
            self.repeated + other.repeated,
            self.set_aside + other.set_aside,
            MappingProxyType(Counter(self.not_counted) + Counter(other.not_counted)),
        )


class EventCounter:
    """Counts for any number of writers. To count the same records again changes nothing."""

    def __init__(
        self, store: CounterStore, rows: OpenRows, quarantine: QuarantinePort, remembering: Remembering, clock: Clock
    ) -> None:
        self._store = store
        self._rows = rows
        self._quarantine = quarantine
        self._remembering = remembering
        self._clock = clock

    def forget(self, writer: int) -> None:
        """Another process may count for this writer from now on."""
        self._rows.forget(writer)

    async def count(self, works: Sequence[Work], confirm: Callable[[], Awaitable[None]]) -> Mapping[int, Outcome]:
        """Returns when all effects are durable: for each writer, what became of its events. Nothing is saved before
        `confirm` has returned. Raises `Unavailable`.
        """
        now = self._clock.now()
        confirming = asyncio.ensure_future(confirm())
        outcomes = {work.reading.writer: Outcome() for work in works}
        try:
            async with aclosing(one_ahead([partial(self._examine, each, now) for each in _pieces(works)])) as pieces:
                async for piece in pieces:
                    for writer, outcome in (await self._settle(piece, now, confirming)).items():
                        outcomes[writer] = outcomes[writer].plus(outcome)
        finally:
            confirming.cancel()
            await asyncio.gather(confirming, return_exceptions=True)  # its error may come after another one
        return outcomes

    def _examine(self, piece: Sequence[Work], now: datetime) -> Sequence[_Examined]:
        return [_Examined(work, examine(work.records, work.reading, now, self._remembering)) for work in piece]

    async def _settle(
        self, piece: Sequence[_Examined], now: datetime, confirming: Awaitable[None]
    ) -> Mapping[int, Outcome]:
        """Saves what the events of a piece add."""
        marks = [mark for work, found in piece for mark in self._remembering.looked_for(found, work.reading.later)]
        known = await self._store.load(marks)
        outcomes: dict[int, Outcome] = {}
        news: list[Row] = []
        changes: dict[RowKey, Cell] = {}
        for (reading, records), found in piece:
            repeated, rows = self._remembering.repeats(found, known, now, reading.later)
            changes |= cells(found, repeated, reading.writer)
            outcomes[reading.writer] = _outcome(found, len(repeated), len(records))
            news += rows
        rows = await self._added(changes)
        await confirming
        await self._quarantine.add([item for each in piece for item in _items(each)])
        await self._store.save(news + rows)
        self._rows.put(rows)
        COUNTER_ROWS_SAVED.inc(len(news) + len(rows))
        COUNTER_ROWS.set(len(self._rows))
        return outcomes

    async def _added(self, changes: Mapping[RowKey, Cell]) -> list[Row]:
        """The rows as they are after the changes."""
        known = {place: self._rows.get(place) for place in changes}
        missing = [place for place, count in known.items() if count is None]
        loaded = await self._store.load(missing) if missing else {}
        COUNTER_ROWS_LOADED.inc(len(missing))
        return [added(place, known[place] or loaded.get(place, NOTHING), cell) for place, cell in changes.items()]


def _pieces(works: Iterable[Work]) -> Iterator[Sequence[Work]]:
    """The works in their order, a few thousand records at a time."""
    piece: list[Work] = []
    room = _PIECE
    for work in works:
        rest = work.records
        while rest:
            piece.append(work._replace(records=rest[:room]))
            room, rest = room - len(rest[:room]), rest[room:]
            if not room:
                yield piece
                piece, room = [], _PIECE
    if piece:
        yield piece


def _items(examined: _Examined) -> list[Item]:
    return [event_item(examined.work.records[place], fault) for place, fault in examined.findings.bad]


def _outcome(found: Findings, repeated: int, seen: int) -> Outcome:
    return Outcome(
        seen,
        counted=len(found.marks) - repeated,
        ignored=found.ignored,
        repeated=repeated,
        set_aside=len(found.bad),
        not_counted=MappingProxyType(found.not_counted),
    )


def by_partition(records: Iterable[Record]) -> dict[int, list[Record]]:
    """The records of each partition, in their order."""
    of: dict[int, list[Record]] = {}
    for record in records:
        of.setdefault(record.partition, []).append(record)
    return of


def tally_after(tally: Tally, outcome: Outcome, last: Record) -> Tally:
    """The tally of a writer whose next events had this outcome."""
    return Tally(
        upto=last.offset,
        seen=tally.seen + outcome.seen,
        counted=tally.counted + outcome.counted,
        ignored=tally.ignored + outcome.ignored,
        repeated=tally.repeated + outcome.repeated,
        set_aside=tally.set_aside + outcome.set_aside,
        last_offset=last.offset,
        last_print=print_of(last.value),
    )
