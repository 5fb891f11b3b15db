"""What the events of a partition add to rows: which of them count, which are repeats, and the new counts. Pure."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeAlias

from abacus.core.errors import SetAside
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.event_measure import EventMeasure, NotCounted
from abacus.signals.counters.decide.grid import begin_of, slot_of
from abacus.signals.counters.decide.tiles import slots_of
from abacus.signals.counters.types import QUARTER_S, Count, Grain, Row, RowKey
from abacus.signals.events.types import Event

NOBODY: Final[Mapping[int, int]] = MappingProxyType({})
NOTHING: Final = Count(0, -1)  # of a row that was never saved
_PRINT_BYTES: Final = 12
_SPARE_S: Final = 3600  # clocks differ
_NEVER: Final = 1 << 63
_NONE: Final[AbstractSet[int]] = frozenset()
_FIRST_SLOT: Final = slot_of(Grain.REPEATS, 0)

Read: TypeAlias = Callable[[bytes, datetime], Event | None]
Measures: TypeAlias = Callable[[str, str, int], Sequence[EventMeasure]]  # of a source, a type and an offset


class Message(Protocol):
    """A message of a partition. A stamp is the millisecond since 1970; it is negative where there is none."""

    @property
    def offset(self) -> int: ...
    @property
    def stamp_ms(self) -> int: ...
    @property
    def value(self) -> bytes: ...


class BatchWriter(NamedTuple):
    """A writer: how its messages are read, and how each event counts. `later` has writers that count what comes behind,
    each with its first offset, where they may have counted an event already.
    """

    writer: int
    read: Read
    measures: Measures
    later: Mapping[int, int] = NOBODY


class Changes(NamedTuple):
    """The offsets of events, in order, and the units that each adds. Arrays, because there are many."""

    offsets: "array[int]"  # no type can be asked for an item of it before Python 3.12
    units: "array[int]"

    @classmethod
    def none(cls) -> "Changes":
        return cls(array("q"), array("q"))

    @classmethod
    def of(cls, changes: Iterable[tuple[int, int]]) -> "Changes":
        """Of pairs, in any order."""
        offsets, units = zip(*sorted(changes), strict=True)
        return cls(array("q", offsets), array("q", units))

    def pairs(self) -> Iterator[tuple[int, int]]:
        return zip(self.offsets, self.units, strict=True)


@dataclass(slots=True)
class Findings:
    """What became of the messages of a writer, and what they add if none of them is a repeat.

    `marks` has the row that remembers each event that counts, `stamps` the second of each, `late_marks` the rows of the
    last hour of a window; `changes` what is added under each stored key in each shortest slot, a quarter or a minute,
    by the second in which it begins; `bad` the places of messages that are set aside.
    """

    marks: list[tuple[int, RowKey]] = field(default_factory=list)
    stamps: "array[int]" = field(default_factory=lambda: array("q"))
    late_marks: set[RowKey] = field(default_factory=set)
    changes: dict[tuple[str, int], tuple[Definition, Changes]] = field(default_factory=dict)
    ignored: int = 0
    bad: list[tuple[int, SetAside]] = field(default_factory=list)
    not_counted: Counter[tuple[Definition, NotCounted]] = field(default_factory=Counter)


class Cell(NamedTuple):
    """What is to be added to a row, its sum, and the second until which the row is kept."""

    changes: Changes
    units: int
    until: int


class EventMemory:
    """How long events are remembered at least, so that they are recognised when their sender repeats them."""

    def __init__(self, at_least: timedelta) -> None:
        self._slots = -(at_least // timedelta(seconds=-QUARTER_S))
        self._window_s = self._slots * QUARTER_S

    def mark(self, key: str, at: int, writer: int) -> RowKey:
        """The row that remembers an event of this key, stamped in this second."""
        digest = blake2b(key.encode(), digest_size=_PRINT_BYTES).hexdigest()
        return RowKey(digest, _FIRST_SLOT + at // self._window_s * self._slots, writer)

    def is_late(self, at: int) -> bool:
        """Whether a second lies in the last hour of its window. A repeat may be stamped then, and the event before it
        in the next window: stamps of several senders do not only rise.
        """
        return self._window_s - at % self._window_s <= _SPARE_S

    def looked_for(self, found: Findings, later: Mapping[int, int] = NOBODY) -> list[RowKey]:
        """The rows that may remember these events: of the same window of time, and of the one before it; of late ones
        of the next one too. Of later writers, the rows of the same window and of the window behind it.
        """
        looked_for = [self._behind(mark) for mark in found.late_marks]
        for _, mark in found.marks:
            looked_for += (mark, self._before(mark))
            looked_for += (RowKey(*each, writer) for writer in later for each in self._both(mark))
        return looked_for

    def repeats(
        self,
        found: Findings,
        known: Mapping[RowKey, Count],
        now: datetime,
        later: Mapping[int, int] = NOBODY,
    ) -> tuple[set[int], list[Row]]:
        """The offsets of the events that came before, at a lower offset, and the rows that remember the others. An
        event at the same offset is no repeat: it is read again.

        The rows are kept from now on: who reads what waited for days meets a repeat as late.
        """
        marks, late_marks, now_s = found.marks, found.late_marks, int(now.timestamp())
        firsts = {mark: count.upto for mark, count in known.items()}
        windows = {mark.slot for mark in firsts}.union(mark.slot for _, mark in marks)
        untils = {slot: max(begin_of(slot), now_s) + 2 * self._window_s + _SPARE_S for slot in windows}
        came_later = {each[:2] for each, count in known.items() if count.upto >= later.get(each.writer, _NEVER)}
        repeated: set[int] = set()
        news: list[Row] = []
        for offset, mark in marks:
            first = firsts.setdefault(mark, offset)
            if mark.slot - self._slots in windows:
                first = min(first, firsts.get(self._before(mark), offset))
            if mark in late_marks:
                first = min(first, firsts.get(self._behind(mark), offset))
            if first < offset or (came_later and not came_later.isdisjoint(self._both(mark))):
                repeated.add(offset)
            else:
                firsts[mark] = offset
                news.append(Row(mark, Count(1, offset), untils[mark.slot]))
        return repeated, news

    def _both(self, mark: RowKey) -> tuple[tuple[str, int], tuple[str, int]]:
        """The windows of events that came later."""
        return mark[:2], (mark.key, mark.slot + self._slots)

    def _before(self, mark: RowKey) -> RowKey:
        return RowKey(mark.key, mark.slot - self._slots, mark.writer)

    def _behind(self, mark: RowKey) -> RowKey:
        return RowKey(mark.key, mark.slot + self._slots, mark.writer)


def examine(messages: Iterable[Message], reading: BatchWriter, now: datetime, remembering: EventMemory) -> Findings:
    """Reads messages, which are in the order of their offsets, and finds out what each adds."""
    found = Findings()
    marks, changes = found.marks, found.changes
    writer, read, measures, _ = reading
    for place, message in enumerate(messages):
        try:
            event = read(message.value, now)
        except SetAside as fault:
            found.bad.append((place, fault))
            continue
        if event is None:
            found.ignored += 1
            continue
        offset = message.offset
        at = int(event.occurred_at.timestamp())
        counts = False
        for measure in measures(event.source, event.type, offset):
            outcome = measure.key_and_amount(event)
            if isinstance(outcome, NotCounted):
                found.not_counted[measure.definition, outcome] += 1
                continue
            counts = True
            key, units = outcome
            begin = at - at % measure.finest_s
            there = changes.get((key, begin))
            if there is None:
                there = changes[key, begin] = measure.definition, Changes.none()
            _, (all_offsets, all_units) = there
            all_offsets.append(offset)
            all_units.append(units)
        if counts:
            stamped_at = message.stamp_ms // 1000 if message.stamp_ms >= 0 else at
            mark = remembering.mark(event.key, stamped_at, writer)
            marks.append((offset, mark))
            found.stamps.append(stamped_at)
            if remembering.is_late(stamped_at):
                found.late_marks.add(mark)
        else:
            found.ignored += 1
    return found


def cells(found: Findings, repeated: AbstractSet[int], writer: int) -> dict[RowKey, Cell]:
    """The rows that the events change, in all slots of each, without the events at these offsets."""
    cells: dict[RowKey, Cell] = {}
    more: dict[RowKey, list[Changes]] = {}
    for (key, begin), (definition, changes) in found.changes.items():
        if repeated and not repeated.isdisjoint(changes.offsets):
            left = [each for each in changes.pairs() if each[0] not in repeated]
            if not left:
                continue
            changes = Changes.of(left)  # noqa: PLW2901  # without the repeats
        units = sum(changes.units)
        for slot, until in slots_of(definition, begin):
            place = RowKey(key, slot, writer)
            if place in cells:
                more.setdefault(place, []).append(changes)
            else:
                cells[place] = Cell(changes, units, until)
    for place, others in more.items():
        cells[place] = _together(cells[place], others)
    return cells


def _together(cell: Cell, others: Iterable[Changes]) -> Cell:
    """A cell with the changes of shorter slots that lie in its slot."""
    changes = Changes.of(chain(cell.changes.pairs(), *(each.pairs() for each in others)))
    return Cell(changes, sum(changes.units), cell.until)


def without(changes: Mapping[RowKey, Cell], dropped: Mapping[tuple[int, str], AbstractSet[int]]) -> dict[RowKey, Cell]:
    """The changes without the offsets that are dropped, by writer and key."""
    left: dict[RowKey, Cell] = {}
    for place, cell in changes.items():
        offsets = dropped.get((place.writer, place.key), _NONE)
        if offsets.isdisjoint(cell.changes.offsets):
            left[place] = cell
        elif pairs := [each for each in cell.changes.pairs() if each[0] not in offsets]:
            left[place] = Cell(Changes.of(pairs), sum(units for _, units in pairs), cell.until)
    return left


def added(place: RowKey, count: Count, cell: Cell) -> Row:
    """The row after the changes; those at or below its offset are in it already."""
    total, upto = count
    changes, units, until = cell
    if changes.offsets[0] <= upto:
        units = sum(units for offset, units in changes.pairs() if offset > upto)
    return Row(place, Count(total + units, max(upto, changes.offsets[-1])), until)
