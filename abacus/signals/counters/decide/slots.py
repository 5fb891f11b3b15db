"""Slots: quarters, hours and days in the zone of a definition. Pure."""

from typing import Final

from abacus.signals.counters.types import QUARTER_S, Grain

_GRAIN_SHIFT: Final = 28  # quarters since 1970 below, the grain above: an int of 32 bits until the year 9626


def slot_of(grain: Grain, begins_at: int) -> int:
    """The slot that begins at this second since 1970, the beginning of a quarter. Slots of one grain rise with time."""
    return grain << _GRAIN_SHIFT | begins_at // QUARTER_S


def begin_of(slot: int) -> int:
    """The second since 1970 at which the slot begins."""
    return (slot & (1 << _GRAIN_SHIFT) - 1) * QUARTER_S


def grain_of(slot: int) -> Grain:
    return Grain(slot >> _GRAIN_SHIFT)
