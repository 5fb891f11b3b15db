"""Where the rings of a region meet: exactly, and without a look at each pair of edges."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from abacus.signals.places.decide.edge import side
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import Ring

_LOOKS: Final = 200  # at pairs, for each edge: rings of the real world need a tenth


class Contact(NamedTuple):
    """A point at which two rings meet, or one meets itself. `crosses`: not only by a corner."""

    one: int
    other: int
    at: Point
    crosses: bool


class TooIntricate(Exception):
    """It would take too long to say where the rings meet."""


class _Leg(NamedTuple):
    """An edge of a ring, and its place in the ring."""

    ring: int
    place: int
    begin: Point
    end: Point


_Box = tuple[float, float, float, float]


def contacts_of(rings: Sequence[Ring]) -> Iterator[Contact]:
    """Neighbours of a ring meet at their corner, which is no contact. Raises `TooIntricate`."""
    edges = [
        _Leg(number, place, begin, end)
        for number, ring in enumerate(rings)
        for place, (begin, end) in enumerate(itertools.pairwise(ring))
    ]
    levels = _boxes(edges)
    looks = _LOOKS * len(edges)
    waiting = [(len(levels) - 1, 0, 0)]
    while waiting:
        level, one, other = waiting.pop()
        boxes = levels[level]
        if other >= len(boxes):
            continue
        looks -= 1
        if not looks:
            raise TooIntricate
        if one != other and not _overlap(boxes[one], boxes[other]):
            continue
        if level:
            first, second = 2 * one, 2 * other
            waiting += ((level - 1, first, second), (level - 1, first, second + 1), (level - 1, first + 1, second + 1))
            if one != other:
                waiting.append((level - 1, first + 1, second))
        elif one != other and (contact := _contact(edges[one], edges[other], rings)):
            yield contact


def _boxes(edges: Sequence[_Leg]) -> list[list[_Box]]:
    """Of the edges, of each two of them, of each four and so on, up to one of all: neighbours in a ring lie near each
    other.
    """
    levels: list[list[_Box]] = [
        [
            (min(begin[0], end[0]), min(begin[1], end[1]), max(begin[0], end[0]), max(begin[1], end[1]))
            for _, _, begin, end in edges
        ]
    ]
    while len(below := levels[-1]) > 1:
        levels.append([_both(below[at], below[min(at + 1, len(below) - 1)]) for at in range(0, len(below), 2)])
    return levels


def _both(one: _Box, other: _Box) -> _Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _contact(one: _Leg, other: _Leg, rings: Sequence[Ring]) -> Contact | None:
    if one.ring == other.ring:
        if other.place == one.place + 1:
            return _spike(one, one.end, one.begin, other.end)
        if one.place == 0 and other.place == len(rings[one.ring]) - 2:
            return _spike(one, one.begin, one.end, other.begin)
    begin, end, first, last = one.begin, one.end, other.begin, other.end
    of_first, of_last = _side(first, begin, end), _side(last, begin, end)
    of_begin, of_end = _side(begin, first, last), _side(end, first, last)
    if of_first * of_last < 0 and of_begin * of_end < 0:
        return Contact(one.ring, other.ring, _meeting(one, other), crosses=True)
    corners = ((of_first, first, one), (of_last, last, one), (of_begin, begin, other), (of_end, end, other))
    for on, corner, edge in corners:
        if on == 0 and _is_between(corner, edge.begin, edge.end):
            return Contact(one.ring, other.ring, corner, crosses=False)
    return None


def _spike(edge: _Leg, corner: Point, one: Point, other: Point) -> Contact | None:
    """Two neighbours that lead the same way from their corner."""
    dx, dy, x, y = one[0] - corner[0], one[1] - corner[1], other[0] - corner[0], other[1] - corner[1]
    if side(x, y, dx, dy) or x * dx + y * dy <= 0:
        return None
    return Contact(edge.ring, edge.ring, corner, crosses=False)


def _side(point: Point, begin: Point, end: Point) -> int:
    return side(point[0] - begin[0], point[1] - begin[1], end[0] - begin[0], end[1] - begin[1])


def _is_between(point: Point, begin: Point, end: Point) -> bool:
    """Of a point on their line."""
    return all(min(a, b) <= at <= max(a, b) for at, a, b in zip(point, begin, end, strict=True))


def _meeting(one: _Leg, other: _Leg) -> Point:
    """About where two edges cross."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = one.begin, one.end, other.begin, other.end
    slope = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    share = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / slope if slope else 0.0
    return ax + share * (bx - ax), ay + share * (by - ay)
