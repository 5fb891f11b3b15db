"""Which keys of a counter count: each day has room for a number of new ones. Pure.

A key that counts is remembered in a row of its own, with the first offset that counts. It is a function of the
partition up to an offset, as counts are, so an event that is read again, by whichever process, is decided as before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.grid import begin_of, slot_of
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange

_DAY_S: Final = 86_400
# Longer than the longest slot and all clocks together: when a key is silent for a window, its counts are gone.
_SPARE_S: Final = 2 * _DAY_S
_BEHIND_ALL: Final = (1 << 31) - 1  # slots


class Day(NamedTuple):
    """A day of a writer, by the stamps of its events, as a number since 1970; new keys are counted by it."""

    definition_id: int
    version: int
    day: int
    writer: int


class Room(NamedTuple):
    """What is recorded of a day: how many keys may be admitted, how many were, and how many events were refused, up to
    an offset of the writer. `is_last` says that nobody is granted more.
    """

    granted: int = 0
    admitted: int = 0
    refused: int = 0
    upto: int = -1
    is_last: bool = False


class KeyRoom(IntEnum):
    """How a key came to count, as the count of its row."""

    NEW = 1
    BEFORE = 2  # it counted in another partition, or before there was a bound: it takes no room


class Known(NamedTuple):
    """Since when a key counts for a writer."""

    first: int
    kind: KeyRoom


@dataclass(slots=True)
class Candidate:
    """A key that may be new to a writer, with the offset and the second of each of its events, in order."""

    key: str
    writer: int
    definition: Definition
    events: Sequence[tuple[int, int]]
    known: Known | None = None
    known_in: frozenset[int] = frozenset()  # the windows that remember it
    counted_before: bool = False
    is_looked_for: bool = False

    @property
    def may_have_counted(self) -> bool:
        """Whether it may have counted before keys were remembered."""
        return self.definition.new_keys_per_day is None

    def places(self) -> list[RowKey]:
        """The rows that may remember it."""
        slots = dict.fromkeys(slot for _, at in self.events for slot in _around(self.definition, at))
        return [RowKey(self.key, slot, self.writer) for slot in slots]

    def everywhere(self) -> SlotRange:
        """The rows that remember it, of all writers; or all its rows, where it may have counted before that."""
        if self.may_have_counted:
            return SlotRange(self.key, 0, _BEHIND_ALL)
        slots = [slot for _, at in self.events for slot in _around(self.definition, at)]
        return SlotRange(self.key, min(slots), max(slots) + 1)

    def remember(self, found: Mapping[RowKey, Count]) -> None:
        """What the rows at its `places` say."""
        rows = {place.slot: found[place] for place in self.places() if place in found}
        if rows:
            count, first = min(rows.values(), key=lambda each: each.upto)
            self.known = Known(first, KeyRoom(count))
            self.known_in = frozenset(rows)

    def day(self, at: int) -> Day:
        return Day(self.definition.id, self.definition.version, at // _DAY_S, self.writer)


class Dropped(NamedTuple):
    """The events of a key that do not count, by their offsets, all below the first that does, if any does."""

    definition: Definition
    offsets: list[int]


class Admitted(NamedTuple):
    """What becomes of candidates, by writer and key.

    `rows` remember the keys that count; they have to be durable before any of their counts. `rooms` are the days that
    it changes, `short` has the days whose rooms are too small, with the keys that they have to hold. `refused` has the
    candidates that no row remembers.
    """

    dropped: Mapping[tuple[int, str], Dropped]
    rows: Sequence[Row]
    rooms: Mapping[Day, Room]
    short: Mapping[Day, int]
    refused: Sequence[Candidate]


def admit(candidates: Iterable[Candidate], rooms: Mapping[Day, Room], now: int) -> Admitted:
    """A room that is too small, but may grow, is taken for large enough."""
    deciding = _Deciding(rooms, now)
    events = ((offset, at, candidate) for candidate in candidates for offset, at in candidate.events)
    for offset, at, candidate in sorted(events, key=lambda event: event[0]):
        deciding.decide(candidate, offset, at)
    return deciding.outcome()


class _Deciding:
    """One event after the other, in the order of their offsets."""

    def __init__(self, rooms: Mapping[Day, Room], now: int) -> None:
        self._before = rooms
        self._now = now
        self._rooms = dict(rooms)
        self._short: dict[Day, int] = {}
        self._known: dict[tuple[int, str], Known] = {}
        self._keys: set[str] = set()  # of any writer
        self._dropped: dict[tuple[int, str], Dropped] = {}
        self._refused: list[Candidate] = []
        self._rows: dict[RowKey, Row] = {}

    def decide(self, candidate: Candidate, offset: int, at: int) -> None:
        name, day = (candidate.writer, candidate.key), candidate.day(at)
        room = self._rooms.get(day, Room())
        known = self._known.get(name) or candidate.known or self._admitted(candidate, offset, room)
        if known is None or offset < known.first:
            self._rooms[day] = room._replace(refused=room.refused + 1)
            self._drop(name, candidate, offset)
            return
        self._known[name] = known
        self._keys.add(candidate.key)
        if known == (offset, KeyRoom.NEW):  # it is admitted here, or the event is read again
            self._rooms[day] = room = room._replace(admitted=room.admitted + 1)
            if room.admitted > room.granted and not room.is_last:
                self._short[day] = room.admitted
        window = window_of(candidate.definition, at)
        if window not in candidate.known_in:
            place = RowKey(candidate.key, window, candidate.writer)
            until = max(begin_of(window), self._now) + 2 * _window_s(candidate.definition)
            self._rows.setdefault(place, Row(place, Count(known.kind, known.first), until))

    def _admitted(self, candidate: Candidate, offset: int, room: Room) -> Known | None:
        """A key that no row remembers, if it counts from this event on."""
        if candidate.counted_before or candidate.key in self._keys:
            return Known(offset, KeyRoom.BEFORE)
        return Known(offset, KeyRoom.NEW) if room.admitted < room.granted or not room.is_last else None

    def outcome(self) -> Admitted:
        changed = {day: room for day, room in self._rooms.items() if room != self._before.get(day)}
        return Admitted(self._dropped, list(self._rows.values()), changed, self._short, self._refused)

    def _drop(self, name: tuple[int, str], candidate: Candidate, offset: int) -> None:
        if name not in self._dropped:
            self._dropped[name] = Dropped(candidate.definition, [])
            if candidate.known is None:
                self._refused.append(candidate)
        self._dropped[name].offsets.append(offset)


def window_of(definition: Definition, at: int) -> int:
    """The slot in which a key is remembered that counts at this second."""
    window_s = _window_s(definition)
    return slot_of(Grain.KEYS, at // window_s * window_s)


def _around(definition: Definition, at: int) -> tuple[int, int, int]:
    """The window before has keys that came last in it; stamps of several senders do not only rise."""
    window_s = _window_s(definition)
    return tuple(window_of(definition, max(0, at + each)) for each in (-window_s, 0, window_s))  # type: ignore[return-value]  # of three


def _window_s(definition: Definition) -> int:
    return max(definition.keep.values()) + _SPARE_S


def granted(
    wanted: Mapping[Day, int], recorded: Mapping[Day, Room], most: Mapping[tuple[int, int], int]
) -> dict[Day, Room]:
    """The rooms of these days with what each is granted, as far as there is room for new keys of the definition. A
    grant is never taken back.
    """
    rooms = dict(recorded)
    for day, keys in sorted(wanted.items()):
        room = rooms.get(day, Room())
        others = sum(each.granted for other, each in rooms.items() if other[:3] == day[:3] and other != day)
        limit = max(room.granted, min(keys, most[day[:2]] - others))
        rooms[day] = room._replace(granted=limit, is_last=limit < keys)
    return {day: rooms[day] for day in wanted}
