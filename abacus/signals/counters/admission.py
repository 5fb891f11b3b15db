"""Admits keys of counters: looks for remembered keys, and has room granted for new ones."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from abacus.platform.kafka.reader import StartAgain
from abacus.signals.counters.decide.admission import Admitted, Candidate, Day, Room, admit
from abacus.signals.counters.decide.batch import Cell, Findings
from abacus.signals.counters.new_keys import NewKeysBook
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Count, RowKey


class Found(NamedTuple):
    """What a writer found in its messages. `since` is the first offset behind its tally."""

    writer: int
    findings: Findings
    since: int


class Admission:
    """Decides for a piece of events after the other. To decide for the same events again comes to the same."""

    def __init__(self, store: CounterStore, book: NewKeysBook) -> None:
        self._store = store
        self._book = book

    async def decide(
        self,
        found: Sequence[Found],
        changes: Mapping[RowKey, Cell],
        before: Mapping[RowKey, Count],
        earlier: Mapping[Day, Room],
        now: int,
    ) -> Admitted:
        """`before` has the rows that the changes are added to, `earlier` the days as earlier pieces left them. Raises
        `StartAgain` when another process has counted for one of the writers, and `Unavailable`.
        """
        candidates = candidates_of(found, changes, before)
        if not candidates:
            return admit((), earlier, now)
        remembered = await self._store.load([place for each in candidates for place in each.places()])
        for each in candidates:
            each.remember(remembered)
        await self._look_elsewhere([each for each in candidates if each.may_have_counted and each.known is None])
        most = {(each.definition.id, each.definition.version): each.definition.most_new_keys for each in candidates}
        days = {each.day(at) for each in candidates for _, at in each.events}
        recorded = await self._book.rooms(days - earlier.keys(), most)
        _check(recorded, {each.writer: each.since for each in found})
        rooms = {**recorded, **earlier}
        while True:
            admitted = admit(candidates, rooms, now)
            if admitted.short:
                rooms |= await self._book.grant({day: (keys, rooms[day]) for day, keys in admitted.short.items()}, most)
            elif unknown := [each for each in admitted.refused if not each.is_looked_for]:
                await self._look_elsewhere(unknown)
            else:
                return admitted

    async def _look_elsewhere(self, candidates: Sequence[Candidate]) -> None:
        """A key that counts in another partition goes on in this one."""
        there = await self._store.there([each.everywhere() for each in candidates]) if candidates else ()
        for each, counted_before in zip(candidates, there, strict=True):
            each.counted_before, each.is_looked_for = counted_before, True


def _check(recorded: Mapping[Day, Room], since: Mapping[int, int]) -> None:
    """What was admitted up to another offset than that of the tally is no beginning."""
    if passed := sorted(day.writer for day, room in recorded.items() if room.upto >= since[day.writer]):
        raise StartAgain(f"another process counts for the writer {passed[0]}")


def candidates_of(
    found: Iterable[Found], changes: Mapping[RowKey, Cell], before: Mapping[RowKey, Count]
) -> list[Candidate]:
    """The keys that have no row from an earlier event: all others are known."""
    firsts: dict[tuple[int, str], int] = {}
    for (key, _, writer), cell in changes.items():
        name, first = (writer, key), cell.changes.offsets[0]
        if first < firsts.get(name, first + 1):
            firsts[name] = first
    for key, slot, writer in changes:
        if 0 <= before[RowKey(key, slot, writer)].upto < firsts.get((writer, key), -1):
            del firsts[writer, key]
    if not firsts:
        return []
    offsets: dict[int, dict[str, set[int]]] = {}
    for (key, _, writer), cell in changes.items():
        if (writer, key) in firsts:
            offsets.setdefault(writer, {}).setdefault(key, set()).update(cell.changes.offsets)
    return [each for writer, findings, _ in found for each in _of_writer(writer, findings, offsets.get(writer, {}))]


def _of_writer(writer: int, found: Findings, offsets: Mapping[str, Collection[int]]) -> Iterator[Candidate]:
    if not offsets:
        return
    at = dict(zip((offset for offset, _ in found.marks), found.stamps, strict=True))
    definitions = {key: definition for (key, _), (definition, _) in found.changes.items()}
    for key, some in offsets.items():
        yield Candidate(key, writer, definitions[key], [(offset, at[offset]) for offset in sorted(some)])
