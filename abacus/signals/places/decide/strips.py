"""Which regions a point lies in, found in strips of the earth.

A strip is cut where edges of regions begin and end in it. Between two cuts a point lies in the same regions wherever it
is, or few edges decide; where many would, there are narrower strips. Everything lies in flat arrays.
"""

from array import array
from bisect import bisect_right
from typing import Final, NamedTuple

from abacus.signals.places.decide.edge import side
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.rank_sets import RankSets

SOUTH: Final = -90.0
ROWS: Final = 720  # strips round the earth
A_DEGREE: Final = 4.0
_BOTH: Final = 2


class Edges(NamedTuple):
    """The edges of all regions, each once; `toggles` has the number of the set of the regions that it bounds."""

    south: "array[float]"
    north: "array[float]"
    begin: "array[float]"
    end: "array[float]"
    toggles: "array[int]"


class Strips(NamedTuple):
    """A strip has cuts from west to east, and one part more than cuts, which says what is between two.

    A part is the number of a set of regions, or the complement of an even number, whose half is a leaf, or of an odd
    one, whose half is a knot: narrower strips.
    """

    first_cut: "array[int]"  # of each strip, and the end
    cuts: "array[float]"
    parts: "array[int]"
    knot_south: "array[float]"
    knot_scale: "array[float]"  # how many of its strips lie in a degree
    knot_strip: "array[int]"  # the first one
    leaf_around: "array[int]"  # the set of regions that points west of its edges are in
    leaf_first: "array[int]"  # of its edges, and the end
    leaf_edges: "array[int]"


class Finder:
    """Finds the number of the set of regions that hold a point. An edge has its southern end and not its northern one,
    and a point on it lies east of it: so a border belongs to exactly one of two neighbours.
    """

    __slots__ = ("_edges", "_sets", "_strips")

    def __init__(self, strips: Strips, edges: Edges, sets: RankSets) -> None:
        self._strips = strips
        self._edges = edges
        self._sets = sets

    def find(self, point: Point) -> int:
        x, y = point
        first_cut, cuts, parts, knot_south, knot_scale, knot_strip, *_ = self._strips
        strip = int((y - SOUTH) * A_DEGREE)
        while True:
            part = parts[bisect_right(cuts, x, first_cut[strip], first_cut[strip + 1]) + strip]
            if part >= 0:
                return part
            part = ~part
            if not part & 1:
                return self._beside(part >> 1, x, y)
            part >>= 1
            strip = knot_strip[part] + int((y - knot_south[part]) * knot_scale[part])

    def _beside(self, leaf: int, x: float, y: float) -> int:
        strips = self._strips
        souths, norths, begins, ends, toggles = self._edges
        found = strips.leaf_around[leaf]
        first = strips.leaf_first
        for edge in strips.leaf_edges[first[leaf] : first[leaf + 1]]:
            south = souths[edge]
            if south <= y < norths[edge]:
                begin, end = begins[edge], ends[edge]
                ends_west = (x >= begin) + (x >= end)
                if ends_west == _BOTH or (
                    ends_west and side(x - begin, y - south, end - begin, norths[edge] - south) >= 0
                ):
                    found = self._sets.toggled(found, toggles[edge])
        return found
