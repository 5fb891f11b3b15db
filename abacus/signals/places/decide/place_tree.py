"""Which points of the earth lie nearest to one, found in a tree of halved space. Pure.

Points are vectors of length one, so that the poles and the antimeridian are places as all others, and the straight line
through the earth between two of them grows with the way on the ground. A cell of space that holds many points is cut in
two halves across the axis along which they are spread the widest.
"""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.sphere import EARTH_M

Vector: TypeAlias = tuple[float, float, float]
Found: TypeAlias = tuple[float, int]  # the square of the straight line, and the number of a point
Filter: TypeAlias = Callable[[list[Found]], list[Found]]

_LEAF: Final = 3  # in place of an axis
_MOST: Final = 32  # points of a leaf
_TRACE: Final = 1 + 1e-12  # by which a sum of squares may be wrong
_SMALLEST: Final = 2.0**-30  # of a cell: half a centimetre. There a leaf takes any number of points.


def vector_of(point: Point) -> Vector:
    lon, lat = math.radians(point[0]), math.radians(point[1])
    across = math.cos(lat)
    return across * math.cos(lon), across * math.sin(lon), math.sin(lat)


def metres_of(square: float) -> float:
    """On the ground, for the square of a straight line."""
    return 2 * EARTH_M * math.asin(min(1.0, math.sqrt(square) / 2))


def square_of(metres: float) -> float:
    """Of the straight line, a trace more than less."""
    half = metres / (2 * EARTH_M)
    return _TRACE * (4.0 if half >= math.pi / 2 else (2 * math.sin(half)) ** 2)


class _Leaf(NamedTuple):
    """Points, each at one place of all four arrays; and the cell, from one corner up to the other."""

    xs: "array[float]"
    ys: "array[float]"
    zs: "array[float]"
    numbers: "array[int]"
    low: Vector
    high: Vector


class PlaceTree:
    """Points under numbers of the caller's."""

    def __init__(self) -> None:
        self._axes = bytearray([_LEAF])
        self._cuts = array("d", [0.0])
        self._next = array("i", [0])  # the lower half, behind which the upper stands; of a leaf its number
        self._leaves = [_leaf((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))]

    def put(self, number: int, at: Vector) -> None:
        node = self._node(at)
        leaf = self._leaves[self._next[node]]
        x, y, z = at
        leaf.xs.append(x)
        leaf.ys.append(y)
        leaf.zs.append(z)
        leaf.numbers.append(number)
        if len(leaf.numbers) > _MOST:
            self._cut(node)

    def remove(self, number: int, at: Vector) -> None:
        leaf = self._leaves[self._next[self._node(at)]]
        place = leaf.numbers.index(number)
        last = leaf.xs.pop(), leaf.ys.pop(), leaf.zs.pop(), leaf.numbers.pop()
        if place < len(leaf.numbers):
            leaf.xs[place], leaf.ys[place], leaf.zs[place], leaf.numbers[place] = last

    def search(self, at: Vector, k: int, within: float, keep: Filter | None) -> Iterator[list[Found] | None]:
        """The `k` nearest of the points that are kept, with all that are as far as the last of them; by distance. The
        square of none is greater than `within`. None comes with each leaf that was looked at, and these at last.
        """
        axes, cuts, nexts, leaves = self._axes, self._cuts, self._next, self._leaves
        x, y, z = at
        found: list[Found] = []
        waiting = [(0.0, 0, (0.0, 0.0, 0.0))]
        bound = within * _TRACE
        while waiting:
            least, node, beside = waiting.pop()
            if least > bound:
                continue
            while (axis := axes[node]) != _LEAF:
                offset = at[axis] - cuts[node]
                side = offset >= 0.0
                lower = nexts[node]
                square = offset * offset
                further = least - beside[axis] + square
                if further <= bound:
                    squares = (
                        (square, beside[1], beside[2])
                        if axis == 0
                        else (beside[0], square, beside[2])
                        if axis == 1
                        else (beside[0], beside[1], square)
                    )
                    waiting.append((further, lower + (not side), squares))
                node = lower + side
            leaf = leaves[nexts[node]]
            near = [
                (square, number)
                for a, b, c, number in zip(leaf[0], leaf[1], leaf[2], leaf[3], strict=True)
                if (square := (a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z)) <= within
            ]
            if keep is not None and near:
                near = keep(near)
            if near:
                found += near
                if len(found) >= k:
                    found.sort()
                    within = found[k - 1][0]
                    bound = within * _TRACE
                    while found[-1][0] > within:
                        found.pop()
            yield None
        found.sort()
        yield found

    def _node(self, at: Vector) -> int:
        """The leaf in whose cell a point lies."""
        axes, cuts, nexts = self._axes, self._cuts, self._next
        node = 0
        while (axis := axes[node]) != _LEAF:
            node = nexts[node] + (at[axis] >= cuts[node])
        return node

    def _cut(self, node: int) -> None:
        """Halves a cell until a leaf has no more points than it may."""
        while len((leaf := self._leaves[self._next[node]]).numbers) > _MOST:
            spreads = [max(values) - min(values) for values in leaf[:3]]
            axis = spreads.index(max(spreads))
            if leaf.high[axis] - leaf.low[axis] < _SMALLEST:
                return
            node = self._halve(node, leaf, axis)

    def _halve(self, node: int, leaf: _Leaf, axis: int) -> int:
        """The half that has more points."""
        cut = (leaf.low[axis] + leaf.high[axis]) / 2
        lower = _leaf(leaf.low, _moved(leaf.high, axis, cut))
        upper = _leaf(_moved(leaf.low, axis, cut), leaf.high)
        for place, value in enumerate(leaf[axis]):
            half = upper if value >= cut else lower
            half.xs.append(leaf.xs[place])
            half.ys.append(leaf.ys[place])
            half.zs.append(leaf.zs[place])
            half.numbers.append(leaf.numbers[place])
        first = len(self._axes)
        self._axes[node], self._cuts[node] = axis, cut
        self._axes += bytes([_LEAF, _LEAF])
        self._cuts.extend((0.0, 0.0))
        self._next.extend((self._next[node], len(self._leaves)))
        self._leaves[self._next[node]] = lower
        self._leaves.append(upper)
        self._next[node] = first
        return first + (len(upper.numbers) > len(lower.numbers))


def _leaf(low: Vector, high: Vector) -> _Leaf:
    return _Leaf(array("d"), array("d"), array("d"), array("i"), low, high)


def _moved(corner: Vector, axis: int, to: float) -> Vector:
    x, y, z = (to if place == axis else value for place, value in enumerate(corner))
    return x, y, z


def nearest_of(points: Iterable[tuple[int, Vector]], at: Vector, within: float) -> list[Found]:
    """All of these points up to a distance, by distance."""
    x, y, z = at
    found = [
        (square, number)
        for number, (a, b, c) in points
        if (square := (a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z)) <= within
    ]
    found.sort()
    return found
