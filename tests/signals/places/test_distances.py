"""Distances to borders are those on the sphere."""

import itertools
import math
import random
from typing import Any

import pytest

from abacus.core.fields import DocumentFaults
from abacus.signals.places.decide.borders import Borders
from abacus.signals.places.decide.country_index import build
from abacus.signals.places.decide.point import UNIT, Point, point, rounded
from abacus.signals.places.decide.region import Region
from abacus.signals.places.decide.region_index import RegionIndex
from abacus.signals.places.decide.sphere import EARTH_M, Box, metres_between, metres_to_box, metres_to_edge
from benchmarks.region_examples import net

pytestmark = pytest.mark.once

DRAWN = random.Random(1)


def somewhere(within: float = 80.0) -> Point:
    return DRAWN.uniform(-180, 180), DRAWN.uniform(-within, within)


def along(begin: Point, end: Point, steps: int) -> list[Point]:
    return [
        (begin[0] + (end[0] - begin[0]) * share / steps, begin[1] + (end[1] - begin[1]) * share / steps)
        for share in range(steps + 1)
    ]


def test_an_edge_is_as_far_as_its_nearest_point() -> None:
    for size in (0.01, 1.0, 20.0):
        for _ in range(20):
            at, begin = somewhere(), somewhere(60)
            end = (begin[0] + DRAWN.uniform(-size, size), begin[1] + DRAWN.uniform(-size, size))
            nearest = min(metres_between(at, each) for each in along(begin, end, 400))
            found = metres_to_edge(at, begin, end)
            assert found <= nearest + 1e-3 or nearest > EARTH_M
            assert found >= nearest - size * 111_195 / 400


def test_a_box_is_no_farther_than_any_of_its_points() -> None:
    for _ in range(100):
        at, (west, south) = somewhere(), somewhere(60)
        box = Box(west, south, west + DRAWN.uniform(0, 90), south + DRAWN.uniform(0, 20))
        sides = [
            each
            for corners in (
                ((box.west, box.south), (box.west, box.north)),
                ((box.east, box.south), (box.east, box.north)),
                ((box.west, box.south), (box.east, box.south)),
                ((box.west, box.north), (box.east, box.north)),
            )
            for each in along(*corners, 50)
        ]
        assert metres_to_box(at, box) <= min(metres_between(at, each) for each in sides) + 1e-3
    assert metres_to_box((0.5, 0.5), Box(0.0, 0.0, 1.0, 1.0)) == 0.0


def test_the_nearest_region_is_that_of_all() -> None:
    regions = list(net(6, 6, south_west=(178.0, 50.0), size=0.7, jags=2))
    index = RegionIndex({"SG": build(regions)}, {"SG": 1})
    for _ in range(20):
        at = point(*somewhere()[::-1])
        distances = {each.id: _plainly(each, at) for each in regions}
        found = index.nearest(at)
        assert found is not None
        assert found[1] == pytest.approx(min(distances.values()), rel=1e-9)
        assert distances[found[0].id] == pytest.approx(found[1], rel=1e-9)
        outside = next(each for each in regions if index.named(each.id) not in index.at(at))
        assert index.distance(outside.id, at) == pytest.approx(distances[outside.id], rel=1e-9)


class Counted(list[float]):
    """Tells how often it was looked into."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return super().__getitem__(at)


@pytest.mark.parametrize("west", [103.0, 179.8])  # the other lies on both sides of the antimeridian
def test_of_a_long_border_few_edges_are_looked_at(west: float) -> None:
    coast, island = (_coast(each, west + number, 1_000) for number, each in enumerate(("coast", "island")))
    index = build([coast, island])
    outlines, edges = index.outlines, index.edges
    for at in (
        (0.0, 0.0),
        (-76.2, -1.3),
        *((west + DRAWN.uniform(-0.2, 1.2), DRAWN.uniform(1.0, 1.6)) for _ in range(4)),
    ):
        souths: Any = Counted(edges.south)
        borders = Borders(outlines, edges._replace(south=souths))
        plain = [_plainly(each, at) for each in (coast, island)]
        found = borders.nearest(at)
        assert found is not None
        assert found[0] == plain.index(min(plain))
        assert found[1] == pytest.approx(min(plain), rel=1e-9)
        assert [borders.metres(rank, at) for rank in range(2)] == pytest.approx(plain, rel=1e-9)
        assert souths.looks < 600


def _coast(id_: str, west: float, points: int) -> Region:
    turns = [math.tau * number / points for number in range(points)]
    ways = [0.2 + 0.05 * math.sin(5 * turn) + 0.01 * math.sin(171 * turn) for turn in turns]
    ring = [
        (rounded(west + 0.3 + way * math.cos(turn)), rounded(1.3 + way * math.sin(turn)))
        for turn, way in zip(turns, ways, strict=True)
    ]
    return Region(id_, id_, "zone", 0, "SG", (((*ring, ring[0]),),))


def test_of_neighbours_the_border_is_of_the_first() -> None:
    regions = list(net(2, 1, south_west=(10.0, 10.0), size=1.0, jags=6))
    shared = set(regions[0].parts[0][0]) & set(regions[1].parts[0][0])
    index = build(regions)
    for at in sorted(shared)[::7]:
        found = index.borders().nearest(at)
        assert found is not None
        assert (found[0], round(found[1], 3)) == (0, 0.0)


def _plainly(region: Region, at: Point) -> float:
    ring = region.parts[0][0]
    return min(metres_to_edge(at, begin, end) for begin, end in itertools.pairwise(ring))


def test_a_point_inside_is_at_no_distance_and_an_unknown_region_is_infinitely_far() -> None:
    (region,) = net(1, 1, south_west=(10.0, 10.0), size=1.0, jags=1)
    index = RegionIndex({"SG": build([region])}, {"SG": 1})
    assert index.distance(region.id, (10.5, 10.5)) == 0.0
    assert math.isinf(index.distance("gone", (10.5, 10.5)))
    assert RegionIndex({}, {}).nearest((0.0, 0.0)) is None


@pytest.mark.parametrize(
    ("lat", "lon", "faults"),
    [
        (91.0, 120.0, {"lat": "it is not between -90 and 90"}),
        (103.8, 1.3, {"lat": "it is not between -90 and 90; latitude and longitude look swapped"}),
        (math.nan, 181.0, {"lat": "it is not a number of degrees", "lon": "it is not between -180 and 180"}),
        (math.inf, math.nan, {"lat": "it is not a number of degrees", "lon": "it is not a number of degrees"}),
    ],
)
def test_what_is_no_point_is_told_by_name(lat: float, lon: float, faults: dict[str, str]) -> None:
    with pytest.raises(DocumentFaults) as refused:
        point(lat, lon)
    assert {each.path: each.message for each in refused.value.faults} == faults


def test_ends_of_the_earth_have_one_name() -> None:
    assert point(90.0, 180.0) == (-180.0, 90.0 - UNIT)
    assert point(-90.0, -180.0) == (-180.0, -90.0)
    assert point(0.1, 0.1 + UNIT / 8) == point(0.1, 0.1)
