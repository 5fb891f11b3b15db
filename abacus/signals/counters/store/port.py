"""What a store of counters does. Both stores pass one suite of tests."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from abacus.signals.counters.types import Count, Row, RowKey, SlotRange, Slots


class CounterStore(Protocol):
    """Every method raises `Unavailable` while the store is away."""

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        """The saved counts of these rows; a row that was never saved is left out."""
        ...

    async def save(self, rows: Sequence[Row]) -> None:
        """Returns when the rows are durable. A row that is saved already with a higher `upto` stays as it is, so a
        writer that saves late changes nothing.
        """
        ...

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        """The sum over all slots and writers of each range, in their order. Ranges are of a grain that counts: rows of
        the grain `REPEATS` are only loaded and saved.
        """
        ...

    async def slots(self, ranges: Sequence[SlotRange]) -> Sequence[Mapping[int, int]]:
        """The sum over all writers of each slot of each range, in their order; slots without a row are left out."""
        ...

    async def keys(self, space: str, after: str, most: int) -> Sequence[str]:
        """The keys that begin with this text, which ends with a colon, and are remembered as keys that count: at most
        `most`, in order, from the first behind `after`.
        """
        ...

    async def top(self, space: str, slots: Sequence[Slots], most: int) -> Sequence[tuple[str, int]]:
        """The keys that begin with this text, which ends with a colon, and have the largest sums over these slots, with
        their sums: at most `most`, the largest first, and equal sums in the order of the keys. A sum of 0 is none.
        Raises `Refused` where there are too many keys to compare.
        """
        ...

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        """Whether each range has a row, of any writer, in their order. Ranges may be of all grains but `REPEATS`."""
        ...

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        """The ranges by the part of the store that has them, by its name; None is a store of one part. A part may be
        away while others answer: a question about ranges of both gets no sum.
        """
        ...

    async def probes(self) -> Mapping[str | None, SlotRange]:
        """An empty range of each part, by its name: asking for it shows whether the part answers."""
        ...
