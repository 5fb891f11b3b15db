"""A lookup, and what comes of it. Pure."""

from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from abacus.signals.counters.types import SlotRange


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
        """The count itself; a definition with decimals counts in decimals."""
        return Decimal(self.units).scaleb(-self.decimals) if self.decimals else self.units


class Why(StrEnum):
    """Why a lookup has no count."""

    INVALID = "invalid"  # the range lies outside of all calendars
    UNKNOWN_KEY = "unknown-key"  # it fits no template
    RETIRED = "counter-retired"  # before the range ends; what it counted until then can be asked for
    BEYOND_KEEP = "beyond-keep"  # the range begins where its counts are forgotten already
    TO_BEFORE_FROM = "to-before-from"
    UNAVAILABLE = "unavailable"  # the store is away, or did not answer in time

    @property
    def is_ours(self) -> bool:
        """Whether the caller can do nothing but ask again later."""
        return self is Why.UNAVAILABLE


class NotCounted(NamedTuple):
    """A lookup without a count."""

    why: Why
    detail: str
