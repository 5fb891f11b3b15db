"""How far regions are, and which is the nearest."""

import math
from array import array
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from abacus.signals.places.decide.point import TURN, Point
from abacus.signals.places.decide.sphere import DEGREE_M, Box, metres_between, metres_to_box, metres_to_edge
from abacus.signals.places.decide.strips import Edges

_FEWEST: Final = 16  # regions that are looked at together
_BITS: Final = 16  # of a place on the earth, each way
_CELLS: Final = 2.0**7  # to a degree
_A_GROUP: Final = 0
_A_REGION: Final = 1


class Outlines(NamedTuple):
    """The box of each region, and the edges that bound it. `nearby` has the regions in an order in which neighbours
    stand together.
    """

    west: "array[float]"
    south: "array[float]"
    east: "array[float]"
    north: "array[float]"
    nearby: "array[int]"
    first: "array[int]"  # edge of each region, and the end
    edges: "array[int]"


def outlines_of(boxes: Sequence[Box], bounding: Sequence[Sequence[int]]) -> Outlines:
    """`bounding` has the numbers of the edges of each region."""
    first, edges = array("i", [0]), array("i")
    for each in bounding:
        edges.extend(each)
        first.append(len(edges))
    nearby = array("i", sorted(range(len(boxes)), key=lambda rank: _place(boxes[rank])))
    west, south, east, north = (array("d", [box[side] for box in boxes]) for side in range(4))
    return Outlines(west, south, east, north, nearby, first, edges)


class Borders:
    """Distances in metres to the nearest point of a border."""

    def __init__(self, outlines: Outlines, edges: Edges) -> None:
        self._outlines = outlines
        self._edges = edges
        some = max(_FEWEST, math.isqrt(len(outlines.nearby)))
        self._groups = [outlines.nearby[at : at + some] for at in range(0, len(outlines.nearby), some)]
        self._boxes = [_around(outlines, ranks) for ranks in self._groups]

    def metres(self, rank: int, point: Point) -> float:
        outlines, (souths, norths, begins, ends, _) = self._outlines, self._edges
        nearest, lat = math.inf, point[1]
        for edge in outlines.edges[outlines.first[rank] : outlines.first[rank + 1]]:
            south, north = souths[edge], norths[edge]
            if (south - lat if lat < south else lat - north) * DEGREE_M >= nearest:
                continue
            corner, other = (begins[edge], south), (ends[edge], north)
            if metres_between(point, corner) - DEGREE_M * math.dist(corner, other) < nearest:
                nearest = min(nearest, metres_to_edge(point, corner, other))
        return nearest

    def nearest(self, point: Point) -> tuple[int, float] | None:
        """The region whose border is nearest, the lowest rank of several; None where there is none."""
        # Groups of regions, and regions, by the least distance that they can have.
        waiting = [(metres_to_box(point, box), _A_GROUP, number) for number, box in enumerate(self._boxes)]
        heapify(waiting)
        found: tuple[float, int] | None = None
        while waiting and (found is None or waiting[0][0] <= found[0]):
            _, sort, number = heappop(waiting)
            if sort == _A_GROUP:
                for rank in self._groups[number]:
                    heappush(waiting, (metres_to_box(point, _box(self._outlines, rank)), _A_REGION, rank))
            else:
                metres = self.metres(number, point)
                found = (metres, number) if found is None else min(found, (metres, number))
        return None if found is None else (found[1], found[0])


def _box(outlines: Outlines, rank: int) -> Box:
    return Box(outlines.west[rank], outlines.south[rank], outlines.east[rank], outlines.north[rank])


def _around(outlines: Outlines, ranks: Sequence[int]) -> Box:
    boxes = [_box(outlines, rank) for rank in ranks]
    west, south = min(box.west for box in boxes), min(box.south for box in boxes)
    return Box(west, south, min(west + TURN, max(box.east for box in boxes)), max(box.north for box in boxes))


def _place(box: Box) -> int:
    """The place of a box's middle on a line that winds through the earth, near where its neighbours are."""
    x = int(((box.west + box.east) / 2 % TURN) * _CELLS)
    y = int(((box.south + box.north) / 2 + TURN / 4) * _CELLS)
    place = 0
    for bit in range(_BITS):
        place |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    return place
