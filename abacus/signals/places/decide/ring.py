"""Rings of regions as they are written: put into one piece across the antimeridian, and turned the right way round."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from abacus.signals.places.decide.edge import Edge, edges_of, side
from abacus.signals.places.decide.point import TURN, Point, rounded
from abacus.signals.places.decide.region import Ring

_HALF: Final = TURN / 2


def in_one_piece(written: Iterable[Point]) -> Ring:
    """Each next point the short way round from the one before; points that repeat the one before are left out. A ring
    that goes round a pole does not come back to where it began.
    """
    return tuple(_in_one_piece(written))


def _in_one_piece(written: Iterable[Point]) -> Iterator[Point]:
    before: Point | None = None
    for lon, lat in written:
        x, y = rounded(lon), rounded(lat)
        if before is not None:
            while x - before[0] > _HALF:
                x -= TURN
            while before[0] - x > _HALF:
                x += TURN
        if before != (x, y):
            yield (x, y)
        before = x, y


def placed(ring: Ring, west: float = -_HALF) -> Ring:
    """Moved by whole turns, so that its western end lies in the turn that begins at `west`."""
    turns = (min(x for x, _ in ring) - west) // TURN
    return tuple((x - turns * TURN, y) for x, y in ring) if turns else ring


def is_counter_clockwise(ring: Ring) -> bool:
    x, y = ring[0]
    return math.fsum((b[0] - x) * (c[1] - y) - (c[0] - x) * (b[1] - y) for b, c in pairwise(ring)) > 0


def lies_inside(inner: Ring, outer: Ring, *, throughout: bool) -> bool | None:
    """Whether a ring that does not cross another lies inside it; None if it does in part, or runs along it all the way.
    Where the two touch, all of it has to be looked at: `throughout`.
    """
    edges = list(edges_of(outer))
    found: bool | None = None
    for point in _points(inner):
        inside = _is_inside(point, edges)
        if inside is not None:
            if found is not None and inside is not found:
                return None
            found = inside
            if not throughout:
                break
    return found


def _points(ring: Ring) -> Iterator[Point]:
    """Its corners, and the middles of its edges."""
    for one, other in pairwise(ring):
        yield one
        yield (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def _is_inside(point: Point, edges: Sequence[Edge]) -> bool | None:
    """None on an edge."""
    x, y = point
    inside = False
    for south, north, begin, end in edges:
        if south <= y <= north:
            if south == north:
                if begin <= x <= end:
                    return None
                continue
            on = side(x - begin, y - south, end - begin, north - south)
            if on == 0:
                return None
            if on > 0 and y < north:
                inside = not inside
    return inside
