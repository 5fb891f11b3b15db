"""A point lies in the regions that a plain, exact count of the edges says, at borders too."""

import json
import random
from collections.abc import Iterable
from itertools import pairwise
from operator import itemgetter

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.signals.places.decide.country_index import build
from abacus.signals.places.decide.country_map import maps_of
from abacus.signals.places.decide.index_bytes import from_bytes, to_bytes
from abacus.signals.places.decide.point import UNIT, Point, point, rounded
from abacus.signals.places.decide.region import Region, Ring
from abacus.signals.places.decide.region_file import Usual, read_regions
from abacus.signals.places.decide.region_index import RegionIndex
from benchmarks.region_examples import net
from tests.support.paths import GOLDEN

pytestmark = pytest.mark.once

KNOWN = json.loads((GOLDEN / "places.json").read_text("utf-8"))


def in_use(*countries: Iterable[Region]) -> RegionIndex:
    """As processes have them: built, written and read."""
    indexes = {f"C{number}": from_bytes(to_bytes(build(regions))) for number, regions in enumerate(countries)}
    return RegionIndex(indexes, dict.fromkeys(indexes, 1))


def region(name: str, *rings: Ring, priority: int = 0) -> Region:
    return Region(name, name, "zone", priority, "SG", tuple((ring,) for ring in rings))


class Plainly:
    """The rule, in whole numbers: a point lies in a region if an odd number of its edges passes the point's height at
    the point or west of it.
    """

    def __init__(self, regions: Iterable[Region]) -> None:
        self._regions = sorted(regions, key=lambda each: (-each.priority, each.id))
        self._edges = [
            [
                (*one, *other)
                for part in each.parts
                for ring in part
                for one, other in (sorted(map(units, ends), key=itemgetter(1)) for ends in pairwise(ring))
            ]
            for each in self._regions
        ]

    def at(self, at: Point) -> list[str]:
        (here, y), turn = units(at), units((360.0, 0.0))[0]
        found = []
        for region_, edges in zip(self._regions, self._edges, strict=True):
            passes = sum(
                (end - begin) * (y - south) <= (x - begin) * (north - south)
                for begin, south, end, north in edges
                if south <= y < north
                for x in (here, here + turn)
            )
            if passes % 2:
                found.append(region_.id)
        return found


def units(at: Point) -> tuple[int, int]:
    return int(at[0] / UNIT), int(at[1] / UNIT)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in KNOWN["cases"]])
def test_golden(case: dict[str, object]) -> None:
    features = [
        {
            "type": "Feature",
            "properties": {"id": each["id"], "priority": each["priority"]},
            "geometry": {"type": "Polygon", "coordinates": each["rings"]},
        }
        for each in KNOWN["regions"]
    ]
    file = read_regions(
        orjson.dumps({"type": "FeatureCollection", "features": features}),
        Usual("SG", maps_of([], {"SG": "Asia/Singapore"}), {}),
    )
    found = [
        each.id for each in in_use(file.by_country["SG"]).at(point(float(str(case["lat"])), float(str(case["lon"]))))
    ]
    match case["regions"]:
        case list() as names:
            assert found == names
        case "one of west, east":
            assert found in (["west"], ["east"])
        case "west or none":
            assert found in (["west"], [])
        case _:
            assert found in (["west"], ["east"], [])


# Few places, so that corners lie on edges of others, and edges on each other; fine ones, so that strips are narrow.
COARSE = st.integers(-8, 8).map(lambda number: number / 8)
FINE = st.integers(-8, 8).map(lambda number: rounded(0.3) + number * UNIT)
PLACES = st.one_of(COARSE, FINE)
CORNERS = st.lists(st.tuples(PLACES, PLACES), min_size=3, max_size=8)
RINGS = CORNERS.map(lambda corners: (*corners, corners[0]))


@settings(max_examples=40)
@given(st.lists(st.lists(RINGS, min_size=1, max_size=2), min_size=1, max_size=3), st.lists(CORNERS, max_size=2))
def test_any_rings_at_all_are_counted_exactly(drawn: list[list[Ring]], others: list[list[Point]]) -> None:
    """Rings that cross and touch, which no file may have, are held to the same rule."""
    regions = [region(f"r{number}", *rings, priority=number % 2) for number, rings in enumerate(drawn)]
    index, plainly = in_use(regions), Plainly(regions)
    corners = [at for rings in drawn for ring in rings for at in ring] + [at for each in others for at in each]
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in pairwise(corners)]
    for at in (*corners, *((rounded(x), rounded(y)) for x, y in middles)):
        for beside in (at, (at[0] - UNIT, at[1]), (at[0], at[1] - UNIT)):
            assert [each.id for each in index.at(beside)] == plainly.at(beside)


def test_a_border_belongs_to_exactly_one_of_two_neighbours() -> None:
    regions = list(net(4, 4, south_west=(100.0, -2.0), size=0.2, jags=4))
    index, plainly = in_use(regions), Plainly(regions)
    drawn = random.Random(1)
    inner = [each for number, each in enumerate(regions) if 0 < number % 4 < 3 and 0 < number // 4 < 3]
    for each in inner:
        ring = each.parts[0][0]
        for (x, y), (end, north) in pairwise(ring):
            share = drawn.random()
            for at in ((x, y), (rounded(x + share * (end - x)), rounded(y + share * (north - y)))):
                assert [found.id for found in index.at(at)] == plainly.at(at)
                assert len(index.at(at)) == 1


def test_many_points_off_borders_lie_where_a_plain_count_says() -> None:
    regions = [
        *net(5, 5, south_west=(179.0, 10.0), size=0.4, jags=3),
        region("all", square(178.5, 9.5, 4.0), priority=9),
    ]
    index, plainly = in_use(regions), Plainly(regions)
    drawn = random.Random(2)
    for _ in range(300):
        longitude = drawn.uniform(178.0, 183.0)
        at = point(drawn.uniform(9.0, 14.0), longitude if longitude < 180 else longitude - 360)
        assert [found.id for found in index.at(at)] == plainly.at(at)


def square(west: float, south: float, side: float) -> Ring:
    east, north = west + side, south + side
    return ((west, south), (east, south), (east, north), (west, north), (west, south))


def test_regions_of_several_countries_are_told_together_by_priority() -> None:
    ours, theirs = (
        [region("a", square(0, 0, 2)), region("b", square(0, 0, 1), priority=5)],
        [region("c", square(1, 1, 2), priority=3)],
    )
    index = in_use(ours, theirs)
    assert [
        [each.id for each in index.at(at)] for at in ((0.5, 0.5), (1.5, 1.5), (2.5, 2.5), (3.5, 3.5), (-9.0, 0.5))
    ] == [["b", "a"], ["c", "a"], ["c"], [], []]
    assert index.at((1.5, 1.5)) is index.at((1.25, 1.5))
    assert index.at((0.5, 0.5)) is index.at((0.25, 0.5))


def test_the_edition_is_that_of_all_countries() -> None:
    index = from_bytes(to_bytes(build([region("a", square(0, 0, 2))])))
    editions = [RegionIndex({"SG": index}, {"SG": number}).edition for number in (1, 2)]
    assert len({*editions, RegionIndex({}, {}).edition}) == 3


def test_a_region_of_two_parts_that_share_an_edge_has_no_border_there() -> None:
    index = in_use([Region("a", "A", "zone", 0, "SG", ((square(0, 0, 1),), (square(1, 0, 1),)))])
    assert [len(index.at((x, 0.5))) for x in (0.5, 1.0, 1.5, 2.0)] == [1, 1, 1, 0]
    nearest = index.nearest((0.9, 0.5))
    assert nearest is not None
    assert nearest[1] == pytest.approx(0.5 * 111_195, rel=1e-3)
