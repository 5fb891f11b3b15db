"""The edges of regions, and on which side of them a point lies: exactly."""

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

from abacus.signals.places.decide.point import UNIT, Point
from abacus.signals.places.decide.region import Ring

_HALVES: Final = 2 / UNIT  # the middle of an edge lies on a half of a unit
_UNSURE: Final = 2.0**-51  # of a difference of two products, as a share of both


class Edge(NamedTuple):
    """From its southern end to its northern one; of two ends at one height the western one comes first."""

    south: float
    north: float
    begin: float  # the longitude of the southern end
    end: float

    def moved(self, degrees: float) -> "Edge":
        return Edge(self.south, self.north, self.begin + degrees, self.end + degrees)


def edges_of(ring: Ring) -> Iterator[Edge]:
    """The edges of a closed ring, without those of no length."""
    for one, other in itertools.pairwise(ring):
        if one != other:
            yield edge_between(one, other)


def edge_between(one: Point, other: Point) -> Edge:
    (x, y), (end, north) = (one, other) if (one[1], one[0]) < (other[1], other[0]) else (other, one)
    return Edge(y, north, x, end)


def side(x: float, y: float, dx: float, dy: float) -> int:
    """On which side of a line a point lies, seen along the line, which leads from the origin by `dx` and `dy`: 1 on the
    right, -1 on the left, 0 on the line.
    """
    along, across = dx * y, dy * x
    if abs(across - along) <= _UNSURE * (abs(across) + abs(along)):
        along, across = int(dx * _HALVES) * int(y * _HALVES), int(dy * _HALVES) * int(x * _HALVES)
    return (across > along) - (across < along)
