"""Regions that share borders, as those of a country do: a net of jagged lines."""

import itertools
import math
import random
from collections.abc import Iterator

from abacus.signals.places.decide.point import Point, rounded
from abacus.signals.places.decide.region import Region


def net(columns: int, rows: int, *, south_west: Point, size: float, jags: int, seed: int = 1) -> Iterator[Region]:
    """Each region has four sides of 2 to the power of `jags` edges, shared with neighbours; `size` is in degrees."""
    drawn = random.Random(seed)
    west, south = south_west
    corners = {
        (column, row): (
            west + size * (column + drawn.uniform(-0.15, 0.15)),
            south + size * (row + drawn.uniform(-0.15, 0.15)),
        )
        for column in range(columns + 1)
        for row in range(rows + 1)
    }
    lines: dict[tuple[tuple[int, int], tuple[int, int]], list[Point]] = {}

    def line(begin: tuple[int, int], end: tuple[int, int]) -> list[Point]:
        key = (begin, end) if begin < end else (end, begin)
        if key not in lines:
            lines[key] = [(rounded(x), rounded(y)) for x, y in _jagged(corners[key[0]], corners[key[1]], jags, drawn)]
        return lines[key] if begin < end else lines[key][::-1]

    for row in range(rows):
        for column in range(columns):
            around = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1), (column, row)]
            sides = [line(begin, end)[:-1] for begin, end in itertools.pairwise(around)]
            ring = (*(point for side in sides for point in side), sides[0][0])
            number = row * columns + column
            yield Region(f"zone-{number}", f"Zone {number}", "zone", 0, "SG", ((ring,),))


def _jagged(begin: Point, end: Point, jags: int, drawn: random.Random) -> list[Point]:
    points = [begin, end]
    for _ in range(jags):
        finer = points[:1]
        for one, other in itertools.pairwise(points):
            far = math.dist(one, other) * 0.06
            middle = (
                (one[0] + other[0]) / 2 + drawn.uniform(-far, far),
                (one[1] + other[1]) / 2 + drawn.uniform(-far, far),
            )
            finer += [middle, other]
        points = finer
    return points
