"""The rows of counters. Pure."""

from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

MINUTE_S: Final = 60
QUARTER_S: Final = 900


class Grain(IntEnum):
    """The length of a slot. `REPEATS` remembers the keys of events, so that a repeated event is counted once, and
    `KEYS` the counters' keys that were admitted. `MINUTE` is the last: its slots take all numbers that are left.
    """

    QUARTER = 0
    HOUR = 1
    DAY = 2
    REPEATS = 3
    KEYS = 4
    MINUTE = 5


class RowKey(NamedTuple):
    """One writer's count of a key in a slot.

    `key` carries the definition's id and version before the counter's own key. `slot` is an int that carries the grain
    and the beginning: `abacus/signals/counters/decide/grid.py:slot_of`. `writer` is a partition of a topic in one
    generation of the topic.
    """

    key: str
    slot: int
    writer: int


class Count(NamedTuple):
    """The absolute count of a row, with the last offset of the writer's partition that it contains.

    `count` is in units of the definition's last decimal.
    """

    count: int  # type: ignore[assignment]  # tuples have a method of this name
    upto: int


class Row(NamedTuple):
    """A row to save, and the second since 1970 from which on it may be forgotten."""

    key: RowKey
    count: Count  # type: ignore[assignment]  # tuples have a method of this name
    until: int


Slots: TypeAlias = tuple[int, int]  # neighbouring slots of one grain: from the first, up to and without the other


class SlotRange(NamedTuple):
    """Neighbouring slots of one grain of a key: from `first`, up to and without `end`."""

    key: str
    first: int
    end: int
