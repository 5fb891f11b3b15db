"""A lookup, and what comes of it. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from abacus.signals.counters.types import Grain, SlotRange


class Lookup(NamedTuple):
    """A question: how often for this key, from the one second since 1970 up to and without the other."""

    key: str
    begin: int
    end: int


class Parts(NamedTuple):
    """The ranges of slots that are to be summed: closed ones may be kept, open ones are always read."""

    closed: list[SlotRange]
    open: list[SlotRange]


class Counted(NamedTuple):
    """The count of a lookup, with the range that was counted: the lookup's own, both ends floored to the quarter.

    A unit is one of the definition's last decimal.
    """

    begin: int
    end: int
    units: int
    decimals: int

    @property
    def value(self) -> int | Decimal:
        """The count itself."""
        return value_of(self.units, self.decimals)


class SeriesLookup(NamedTuple):
    """A question: how often for this key in each slot of this grain, from the one second since 1970 up to and without
    the other.
    """

    key: str
    begin: int
    end: int
    grain: Grain


class Series(NamedTuple):
    """The counts of neighbouring slots, and the seconds at which these begin. `is_open` says that the last slot has not
    ended: its count may rise.
    """

    grain: Grain
    begins: Sequence[int]
    units: Sequence[int]
    decimals: int
    is_open: bool

    @property
    def values(self) -> Sequence[int | Decimal]:
        """The counts themselves."""
        return [value_of(each, self.decimals) for each in self.units]


class KeyPage(NamedTuple):
    """Keys in their order, and the key behind which the next page begins, if there is one."""

    keys: Sequence[str]
    next: str | None


class KeyCount(NamedTuple):
    """A key with its count in a range."""

    key: str
    units: int
    decimals: int

    @property
    def value(self) -> int | Decimal:
        """The count itself."""
        return value_of(self.units, self.decimals)


class KeyRange(NamedTuple):
    """The keys with the largest counts, the largest first, and the range that was counted, both ends floored to the
    quarter.
    """

    begin: int
    end: int
    keys: Sequence[KeyCount]


def value_of(units: int, decimals: int) -> int | Decimal:
    """A definition with decimals counts in decimals."""
    return Decimal(units).scaleb(-decimals) if decimals else units


class Why(StrEnum):
    """Why a lookup has no count."""

    INVALID = "invalid"  # the range lies outside of all calendars
    UNKNOWN_KEY = "unknown-key"  # it fits no template
    RETIRED = "counter-retired"  # before the range ends; what it counted until then can be asked for
    BEYOND_KEEP = "beyond-keep"  # the range begins where its counts are forgotten already
    TO_BEFORE_FROM = "to-before-from"
    NOT_KEPT = "grain-not-kept"  # by the definition
    TOO_MANY_SLOTS = "too-many-slots"
    TOO_MANY_KEYS = "too-many-keys"  # to compare their counts
    UNAVAILABLE = "unavailable"  # the store is away, or did not answer in time

    @property
    def is_ours(self) -> bool:
        """Whether the caller can do nothing but ask again later."""
        return self is Why.UNAVAILABLE


class NotCounted(NamedTuple):
    """A lookup without a count."""

    why: Why
    detail: str
