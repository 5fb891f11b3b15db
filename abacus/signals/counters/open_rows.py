"""The rows that a process counted in last, in memory, so that few have to be loaded."""

from collections.abc import Iterable
from typing import Final, TypeAlias

from abacus.signals.counters.types import Count, Row, RowKey

_OFFSET_BITS: Final = 63
_OFFSET: Final = (1 << _OFFSET_BITS) - 1

# By writer and slot, then by key. A count and its offset are one int: a tuple of two takes three times the memory.
_Rows: TypeAlias = dict[tuple[int, int], dict[str, int]]


class OpenRows:
    """As many rows as given at most, as they are in the store: a row is put here after it is saved. Of the half that
    was not touched for longest all are forgotten together.
    """

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._young: _Rows = {}
        self._old: _Rows = {}
        self._young_rows = 0
        self._old_rows = 0

    def __len__(self) -> int:
        return self._young_rows + self._old_rows

    def get(self, place: RowKey) -> Count | None:
        key, slot, writer = place
        for rows in (self._young, self._old):
            packed = rows.get((writer, slot), {}).get(key)
            if packed is not None:
                return Count(packed >> _OFFSET_BITS, (packed & _OFFSET) - 1)
        return None

    def put(self, rows: Iterable[Row]) -> None:
        """These rows are saved."""
        for (key, slot, writer), (count, upto), _ in rows:
            if self._young_rows >= self._half:
                self._old, self._old_rows, self._young, self._young_rows = self._young, self._young_rows, {}, 0
            of_slot = self._young.setdefault((writer, slot), {})
            before = len(of_slot)
            of_slot[key] = count << _OFFSET_BITS | upto + 1
            self._young_rows += len(of_slot) - before

    def forget(self, writer: int) -> None:
        """Another process may change this writer's rows from now on."""
        for rows in (self._young, self._old):
            for place in [place for place in rows if place[0] == writer]:
                del rows[place]
        self._young_rows, self._old_rows = _count(self._young), _count(self._old)


def _count(rows: _Rows) -> int:
    return sum(map(len, rows.values()))
