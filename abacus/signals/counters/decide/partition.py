"""The partitions of the rows in Postgres: one grain and a stretch of time each. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.signals.counters.decide.grid import begin_of, grain_of, slot_of
from abacus.signals.counters.types import QUARTER_S, Grain

_DAY_S: Final = 86_400

# A statement looks at every partition, so they may not be many; a partition lives until its last row may go, so they
# may not be long. With the usual keeps these make about twenty.
LENGTHS: Final[Mapping[Grain, int]] = {
    Grain.QUARTER: 2 * _DAY_S,
    Grain.HOUR: 14 * _DAY_S,
    Grain.DAY: 182 * _DAY_S,
    Grain.REPEATS: _DAY_S,
    Grain.KEYS: 14 * _DAY_S,
    Grain.MINUTE: _DAY_S // 4,
}

# Keys are remembered in windows of years, and few counters keep minutes: their partitions are made when the first row
# comes.
_RISING: Final = tuple(grain for grain in Grain if grain not in {Grain.KEYS, Grain.MINUTE})
_AHEAD_S: Final = _DAY_S


class Partition(NamedTuple):
    """The slots from `first`, up to and without `next`; from the second `until` on it may be dropped."""

    first: int
    next: int
    until: int


def holding(slot: int, partitions: Sequence[Partition]) -> Partition | None:
    """The one of these partitions, sorted, that holds the slot."""
    place = bisect_right(partitions, slot, key=lambda each: each.first)
    if place and slot < partitions[place - 1].next:
        return partitions[place - 1]
    return None


def wanted(untils: Mapping[int, int], partitions: Sequence[Partition]) -> list[Partition]:
    """The partitions to make, or to keep for longer, so that slots can be kept until these seconds.

    The time is rounded up, so that a partition is not kept for longer again and again.
    """
    changed: dict[int, Partition] = {}
    for slot, until in untils.items():
        there = holding(slot, partitions)
        if there is not None and there.until >= until:
            continue
        first, end, _ = there or _between(slot, partitions)
        length = LENGTHS[grain_of(slot)]
        rounded = -(-until // length) * length
        if first not in changed or changed[first].until < rounded:
            changed[first] = Partition(first, end, rounded)
    return list(changed.values())


def ahead(now: int) -> Mapping[int, int]:
    """The slots that will be needed within a day, each until its partition is over; for `wanted`."""
    untils: dict[int, int] = {}
    for grain in _RISING:
        for moment in (now, now + _AHEAD_S):
            slot = slot_of(grain, moment)
            untils[slot] = begin_of(_period(slot).next - 1) + QUARTER_S
    return untils


def over(partitions: Iterable[Partition], now: int) -> list[Partition]:
    """The partitions whose time is over."""
    return [each for each in partitions if each.until <= now]


def _between(slot: int, partitions: Sequence[Partition]) -> Partition:
    """A new partition for the slot. An earlier version may have cut time in other lengths: it keeps clear of those."""
    first, end, until = _period(slot)
    for each in partitions:
        if each.next <= slot:
            first = max(first, each.next)
        elif each.first > slot:
            end = min(end, each.first)
    return Partition(first, end, until)


def _period(slot: int) -> Partition:
    grain = grain_of(slot)
    length = LENGTHS[grain]
    begin = begin_of(slot) // length * length
    return Partition(slot_of(grain, begin), slot_of(grain, begin + length), 0)
