"""How far regions are, and which is the nearest."""

import math
from array import array
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from abacus.signals.places.decide.box_levels import SIXTEEN, first_of_levels, levels_over
from abacus.signals.places.decide.point import TURN, Point
from abacus.signals.places.decide.sphere import DEGREE_M, Box, metres_between, metres_to_box, metres_to_edge
from abacus.signals.places.decide.strips import Edges

_BITS: Final = 16  # of a place on the earth, each way
_CELLS: Final = 2.0**7  # to a degree
_AT_LEAST: Final = 1 - 1e-9  # by which a least distance may be wrong
_LEAST_DEGREE_M: Final = DEGREE_M * _AT_LEAST
_NO_REGION: Final = -1

# The least distance of something, in metres; the rank of its region or none for groups of regions; its level; its
# number on the level.
_Waiting: TypeAlias = tuple[float, int, int, int]


class Outlines(NamedTuple):
    """The box of each region, and the edges that bound it, with boxes around them where they are many. `nearby` has the
    regions in an order in which neighbours stand together.
    """

    west: "array[float]"
    south: "array[float]"
    east: "array[float]"
    north: "array[float]"
    nearby: "array[int]"
    first: "array[int]"  # edge of each region, and the end
    edges: "array[int]"
    first_around: "array[int]"  # box around edges of each region: all its levels, the lowest one first
    west_around: "array[float]"
    south_around: "array[float]"
    east_around: "array[float]"
    north_around: "array[float]"


def outlines_of(boxes: Sequence[Box], bounding: Sequence[Sequence[int]], edges: Edges) -> Outlines:
    """`bounding` has the numbers of the edges of each region, in the order in which they go round it."""
    first, bounds, first_around, around = array("i", [0]), array("i"), array("i"), list[Box]()
    for each in bounding:
        bounds.extend(each)
        first.append(len(bounds))
        first_around.append(len(around))
        around += chain.from_iterable(levels_over(_box_of_edge(edges, edge) for edge in each))
    nearby = array("i", sorted(range(len(boxes)), key=lambda rank: _place(boxes[rank])))
    west, south, east, north = _sides(boxes)
    return Outlines(west, south, east, north, nearby, first, bounds, first_around, *_sides(around))


class Borders:
    """Distances in metres to the nearest point of a border: what is nearest at best is looked at first."""

    def __init__(self, outlines: Outlines, edges: Edges) -> None:
        self._outlines = outlines
        self._edges = edges
        self._groups = [[_box(outlines, rank) for rank in outlines.nearby]]
        self._groups += levels_over(self._groups[0])

    def metres(self, rank: int, point: Point) -> float:
        found = self._nearest(point, self._of_region(point, rank))
        return math.inf if found is None else found[0]

    def nearest(self, point: Point) -> tuple[int, float] | None:
        """The region whose border is nearest, the lowest rank of several; None where there is none."""
        top = len(self._groups) - 1
        found = self._nearest(point, self._of_groups(point, top, 0, len(self._groups[top])))
        return None if found is None else (found[1], found[0])

    def _nearest(self, point: Point, waiting: "list[_Waiting]") -> tuple[float, int] | None:
        heapify(waiting)
        found: tuple[float, int] | None = None
        while waiting and (found is None or waiting[0][0] <= found[0]):
            _, rank, level, number = heappop(waiting)
            begin = number * SIXTEEN
            if rank != _NO_REGION and level == 0:
                metres = self._to_edges(point, rank, number, math.inf if found is None else found[0])
                if metres < math.inf:
                    found = (metres, rank) if found is None else min(found, (metres, rank))
            elif rank != _NO_REGION:
                for each in self._of_edges(point, rank, level - 1, begin, begin + SIXTEEN):
                    heappush(waiting, each)
            elif level == 0:
                for each in self._of_region(point, self._outlines.nearby[number]):
                    heappush(waiting, each)
            else:
                for each in self._of_groups(point, level - 1, begin, begin + SIXTEEN):
                    heappush(waiting, each)
        return found

    def _of_groups(self, point: Point, level: int, begin: int, end: int) -> "list[_Waiting]":
        """Regions on the lowest level, and groups of them on others."""
        return [
            (metres_to_box(point, box) * _AT_LEAST, _NO_REGION, level, begin + place)
            for place, box in enumerate(self._groups[level][begin:end])
        ]

    def _of_region(self, point: Point, rank: int) -> "list[_Waiting]":
        levels = len(first_of_levels(self._outlines.first[rank + 1] - self._outlines.first[rank])) - 1
        if not levels:
            return [(metres_to_box(point, _box(self._outlines, rank)) * _AT_LEAST, rank, 0, 0)]
        return self._of_edges(point, rank, levels - 1, 0, SIXTEEN)

    def _of_edges(self, point: Point, rank: int, level: int, begin: int, end: int) -> "list[_Waiting]":
        """Sixteen edges on the lowest level, and sixteen of those on others."""
        outlines = self._outlines
        first = first_of_levels(outlines.first[rank + 1] - outlines.first[rank])
        at, wests, souths, easts, norths = outlines.first_around[rank], *outlines[-4:]
        return [
            (
                metres_to_box(point, Box(wests[each], souths[each], easts[each], norths[each])) * _AT_LEAST,
                rank,
                level,
                each - at - first[level],
            )
            for each in range(at + first[level] + begin, at + min(first[level] + end, first[level + 1]))
        ]

    def _to_edges(self, point: Point, rank: int, number: int, nearest: float) -> float:
        """To the nearest of sixteen edges, infinite when none is as near as `nearest`."""
        outlines, (souths, norths, begins, ends, _) = self._outlines, self._edges
        begin, found, lat = outlines.first[rank] + number * SIXTEEN, math.inf, point[1]
        for edge in outlines.edges[begin : min(begin + SIXTEEN, outlines.first[rank + 1])]:
            south, north = souths[edge], norths[edge]
            if (south - lat if lat < south else lat - north) * _LEAST_DEGREE_M > nearest:
                continue
            corner, other = (begins[edge], south), (ends[edge], north)
            if (metres_between(point, corner) - DEGREE_M * math.dist(corner, other)) * _AT_LEAST <= nearest:
                found = min(found, metres_to_edge(point, corner, other))
                nearest = min(found, nearest)
        return found


def _box(outlines: Outlines, rank: int) -> Box:
    return Box(outlines.west[rank], outlines.south[rank], outlines.east[rank], outlines.north[rank])


def _box_of_edge(edges: Edges, edge: int) -> Box:
    begin, end = edges.begin[edge], edges.end[edge]
    return Box(min(begin, end), edges.south[edge], max(begin, end), edges.north[edge])


def _sides(boxes: Sequence[Box]) -> "tuple[array[float], array[float], array[float], array[float]]":
    west, south, east, north = (array("d", [box[side] for box in boxes]) for side in range(4))
    return west, south, east, north


def _place(box: Box) -> int:
    """The place of a box's middle on a line that winds through the earth, near where its neighbours are."""
    x = int(((box.west + box.east) / 2 % TURN) * _CELLS)
    y = int(((box.south + box.north) / 2 + TURN / 4) * _CELLS)
    place = 0
    for bit in range(_BITS):
        place |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    return place
