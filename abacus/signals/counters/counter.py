"""Adds events to rows: reads them, leaves repeats out, loads the rows that are not open, and saves all that changed."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from datetime import datetime
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.platform.ahead import one_ahead
from abacus.platform.kafka.reader import Record
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item
from abacus.signals.counters.admission import Admission, Found
from abacus.signals.counters.decide.account import EventFates
from abacus.signals.counters.decide.admission import Admitted, Day, Room
from abacus.signals.counters.decide.batch import (
    NOTHING,
    BatchWriter,
    Cell,
    EventMemory,
    Findings,
    added,
    cells,
    examine,
    without,
)
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.event_measure import NotCounted
from abacus.signals.counters.metrics import COUNTER_INCREMENTS, COUNTER_ROWS, COUNTER_ROWS_LOADED, COUNTER_ROWS_SAVED
from abacus.signals.counters.new_keys import NewKeysBook
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.series import Tally
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.topic import print_of
from abacus.signals.counters.types import Count, Row, RowKey
from abacus.signals.events.replay import event_item

_PIECE: Final = 5_000
_MOST_UNSAVED: Final = 20_000


class Work(NamedTuple):
    """The next records of a writer: from the offset `since` on, which is the first behind its tally; and what may be
    `kept` of a message.
    """

    reading: BatchWriter
    records: Sequence[Record]
    since: int
    kept: Callable[[bytes], bytes]


class _Examined(NamedTuple):
    work: Work
    findings: Findings


class _Counting(NamedTuple):
    """What the pieces of a call share. `unsaved` has rows as they will be saved."""

    now: datetime
    confirming: Awaitable[None]
    unsaved: dict[RowKey, Row]


class CountedBatch(NamedTuple):
    """What became of a writer's events. `not_counted` has the definitions for which an event did not count although its
    type does, with the reason. `new_keys` has the days on which keys were admitted or refused, as they are after all
    events.
    """

    fates: EventFates = EventFates()
    not_counted: Mapping[tuple[Definition, NotCounted], int] = MappingProxyType({})
    new_keys: Mapping[Day, Room] = MappingProxyType({})

    def without(self, events: int) -> "CountedBatch":
        """The same, with this number of the counted events ignored."""
        return self._replace(fates=self.fates.plus(EventFates(counted=-events, ignored=events)))

    def plus(self, other: "CountedBatch") -> "CountedBatch":
        return CountedBatch(
            self.fates.plus(other.fates),
            MappingProxyType(Counter(self.not_counted) + Counter(other.not_counted)),
            MappingProxyType({**self.new_keys, **other.new_keys}),
        )


class EventCounter:
    """Counts for any number of writers. To count the same records again changes nothing.

    A call takes its records in pieces, each with `piece` records at most. Events are remembered with their piece; a row
    is saved once for all pieces that add to it, unless more than `most_unsaved` rows wait to be saved.
    """

    def __init__(
        self,
        store: CounterStore,
        rows: OpenRows,
        quarantine: QuarantinePort,
        remembering: EventMemory,
        clock: Clock,
        *,
        new_keys: NewKeysBook,
        piece: int = _PIECE,
        most_unsaved: int = _MOST_UNSAVED,
    ) -> None:
        self._store = store
        self._admission = Admission(store, new_keys)
        self._rows = rows
        self._quarantine = quarantine
        self._remembering = remembering
        self._clock = clock
        self._piece = piece
        self._most_unsaved = most_unsaved

    def forget(self, writer: int) -> None:
        """Another process may count for this writer from now on."""
        self._rows.forget(writer)

    async def count(self, works: Sequence[Work], confirm: Callable[[], Awaitable[None]]) -> Mapping[int, CountedBatch]:
        """Returns when all effects are durable: for each writer, what became of its events. Nothing is saved before
        `confirm` has returned. Raises `Unavailable`.
        """
        now = self._clock.now()
        confirming = asyncio.ensure_future(confirm())
        outcomes = {work.reading.writer: CountedBatch() for work in works}
        examining = [partial(self._examine, each, now) for each in _pieces(works, self._piece)]
        counting = _Counting(now, confirming, {})
        try:
            async with aclosing(one_ahead(examining)) as pieces:
                left = len(examining)
                async for piece in pieces:
                    left -= 1
                    most_unsaved = self._most_unsaved if left else 0
                    days = {day: room for outcome in outcomes.values() for day, room in outcome.new_keys.items()}
                    of_piece = await self._settle(piece, days, counting, most_unsaved)
                    for writer, outcome in of_piece.items():
                        outcomes[writer] = outcomes[writer].plus(outcome)
        finally:
            confirming.cancel()
            await asyncio.gather(confirming, return_exceptions=True)  # its error may come after another one
        return outcomes

    def _examine(self, piece: Sequence[Work], now: datetime) -> Sequence[_Examined]:
        return [_Examined(work, examine(work.records, work.reading, now, self._remembering)) for work in piece]

    async def _settle(
        self, piece: Sequence[_Examined], days: Mapping[Day, Room], counting: _Counting, most_unsaved: int
    ) -> Mapping[int, CountedBatch]:
        """Adds the events of a piece to the rows that are not saved yet, and saves these if they are too many."""
        now, confirming, unsaved = counting
        marks = [mark for work, found in piece for mark in self._remembering.looked_for(found, work.reading.later)]
        known = await self._store.load(marks)
        outcomes: dict[int, CountedBatch] = {}
        news: dict[int, list[Row]] = {}
        changes: dict[RowKey, Cell] = {}
        for (reading, records, *_), found in piece:
            repeated, news[reading.writer] = self._remembering.repeats(found, known, now, reading.later)
            changes |= cells(found, repeated, reading.writer)
            outcomes[reading.writer] = _outcome(found, len(repeated), len(records))
        before = await self._before(changes, unsaved)
        examined = [Found(work.reading.writer, found, work.since) for work, found in piece]
        admitted = await self._admission.decide(examined, changes, before, days, int(now.timestamp()))
        if admitted.dropped:
            dropped = {name: set(each.offsets) for name, each in admitted.dropped.items()}
            changes = without(changes, dropped)
            for writer, offsets in _dropped_whole(dropped, changes).items():
                news[writer] = [row for row in news[writer] if row.count.upto not in offsets]
                outcomes[writer] = outcomes[writer].without(len(offsets))
        outcomes = {writer: _with_new_keys(outcome, writer, admitted) for writer, outcome in outcomes.items()}
        unsaved |= {place: added(place, before[place], cell) for place, cell in changes.items()}
        COUNTER_INCREMENTS.inc(sum(len(cell.changes.offsets) for cell in changes.values()))
        rows = list(unsaved.values()) if len(unsaved) > most_unsaved else []
        remembered = list(chain.from_iterable(news.values()))
        await confirming
        await self._quarantine.add([item for each in piece for item in _items(each)])
        if admitted.rows:  # a process that reads these events again has to find the keys of counts
            await self._store.save(admitted.rows)
        await self._store.save(remembered + rows)
        if rows:
            self._rows.put(rows)
            unsaved.clear()
        COUNTER_ROWS_SAVED.inc(len(remembered) + len(rows) + len(admitted.rows))
        COUNTER_ROWS.set(len(self._rows))
        return outcomes

    async def _before(self, changes: Iterable[RowKey], unsaved: Mapping[RowKey, Row]) -> Mapping[RowKey, Count]:
        """The rows before the changes."""
        known = {place: unsaved[place].count if place in unsaved else self._rows.get(place) for place in changes}
        missing = [place for place, count in known.items() if count is None]
        loaded = await self._store.load(missing) if missing else {}
        COUNTER_ROWS_LOADED.inc(len(missing))
        return {place: count or loaded.get(place, NOTHING) for place, count in known.items()}


def _pieces(works: Iterable[Work], size: int) -> Iterator[Sequence[Work]]:
    """The works in their order, a bounded number of records at a time."""
    piece: list[Work] = []
    room = size
    for work in works:
        rest = work.records
        while rest:
            piece.append(work._replace(records=rest[:room]))
            room, rest = room - len(rest[:room]), rest[room:]
            if not room:
                yield piece
                piece, room = [], size
    if piece:
        yield piece


def _items(examined: _Examined) -> list[Item]:
    work, bad = examined.work, examined.findings.bad
    return [event_item(work.records[place], fault, work.kept) for place, fault in bad]


def _outcome(found: Findings, repeated: int, seen: int) -> CountedBatch:
    fates = EventFates(seen, len(found.marks) - repeated, found.ignored, repeated, set_aside=len(found.bad))
    return CountedBatch(fates, MappingProxyType(found.not_counted))


def _dropped_whole(
    dropped: Mapping[tuple[int, str], AbstractSet[int]], changes: Mapping[RowKey, Cell]
) -> Mapping[int, set[int]]:
    """The offsets of each writer that count under no key."""
    whole: dict[int, set[int]] = {}
    for (writer, _), offsets in dropped.items():
        whole.setdefault(writer, set()).update(offsets)
    for place, cell in changes.items():
        if place.writer in whole:
            whole[place.writer].difference_update(cell.changes.offsets)
    return whole


def _with_new_keys(outcome: CountedBatch, writer: int, admitted: Admitted) -> CountedBatch:
    not_counted = Counter(outcome.not_counted)
    for (of_writer, _), (definition, offsets) in admitted.dropped.items():
        if of_writer == writer:
            not_counted[definition, NotCounted.NEW_KEY] += len(offsets)
    days = {day: room for day, room in admitted.rooms.items() if day.writer == writer}
    return outcome._replace(not_counted=MappingProxyType(not_counted), new_keys=MappingProxyType(days))


def by_partition(records: Iterable[Record]) -> dict[int, list[Record]]:
    """The records of each partition, in their order."""
    of: dict[int, list[Record]] = {}
    for record in records:
        of.setdefault(record.partition, []).append(record)
    return of


def tally_after(tally: Tally, outcome: CountedBatch, last: Record) -> Tally:
    """The tally of a writer whose next events had this outcome."""
    return Tally(last.offset, *tally.fates.plus(outcome.fates), last.offset, print_of(last.value))
