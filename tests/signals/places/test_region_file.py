"""A file of regions is read whole, or told with every fault at its feature."""

import math
import pickle
from typing import Any

import orjson
import pytest

from abacus.core.fields import DocumentFaults
from abacus.signals.places.decide.country_map import CountryMap, maps_of
from abacus.signals.places.decide.region import Region
from abacus.signals.places.decide.region_file import RegionFaults, RegionFile, Usual, read_regions

pytestmark = pytest.mark.once

MAPS = maps_of([CountryMap("SG", "Asia/Singapore", {"city": 20})], {"SG": "Asia/Singapore", "MY": "Asia/Kuala_Lumpur"})
IN_SG = Usual("SG", MAPS, {})


def square(west: float, south: float, side: float) -> list[list[float]]:
    east, north = west + side, south + side
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def hole(west: float, south: float, side: float) -> list[list[float]]:
    return square(west, south, side)[::-1]


def polygon(*rings: object) -> dict[str, object]:
    return {"type": "Polygon", "coordinates": list(rings)}


def parts(*polygons: object) -> dict[str, object]:
    return {"type": "MultiPolygon", "coordinates": list(polygons)}


def feature(geometry: object, **properties: object) -> dict[str, object]:
    return {"type": "Feature", "properties": {"id": "x", **properties}, "geometry": geometry}


def read(*features: object, usual: Usual = IN_SG) -> RegionFile:
    return read_regions(orjson.dumps({"type": "FeatureCollection", "features": features}), usual)


def only(file: RegionFile) -> Region:
    ((region,),) = file.by_country.values()
    return region


OUTLINE = "geometry.coordinates[0]"
FAULTS: dict[str, tuple[object, str, str]] = {
    "crosses itself": (polygon([[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]), OUTLINE, "crosses itself at 1, 1"),
    "touches itself": (
        polygon([[0, 0], [4, 0], [2, 2], [4, 4], [0, 4], [2, 2], [0, 0]]),
        OUTLINE,
        "touches itself at 2, 2",
    ),
    "a spike": (polygon([[0, 0], [2, 0], [1, 0], [1, 1], [0, 0]]), OUTLINE, "touches itself at 1, 0"),
    "not closed": (polygon(square(0, 0, 1)[:-1]), OUTLINE, "not closed: it begins at 0, 0 and ends at 0, 1"),
    "three points": (polygon([[0, 0], [1, 1], [0, 0]]), OUTLINE, "3 points; a ring has at least 4, and"),
    "one point": (polygon([[1, 1], [1, 1], [1, 1], [1, 1]]), OUTLINE, "fewer than three different ones"),
    "round a pole": (polygon([[0, 80], [90, 80], [180, 80], [-90, 80], [0, 80]]), OUTLINE, "goes round a pole"),
    "swapped": (
        polygon([[0, 0], [1.3, 103], [3, 4], [0, 0]]),
        f"{OUTLINE}[1]",
        "the latitude 103 is not between -90 and 90; the coordinates look swapped",
    ),
    "too far": (polygon([[0, 0], [181, 0], [1, 1], [0, 0]]), f"{OUTLINE}[1]", "the longitude 181 is not between"),
    "no point": (
        polygon([[0, 0], [1, "0"], [1, 1], [0, 0]]),
        f"{OUTLINE}[1]",
        "write two numbers, the longitude first",
    ),
    "a hole outside": (
        polygon(square(0, 0, 4), hole(6, 0, 1)),
        "geometry.coordinates[1]",
        "lies outside its outline",
    ),
    "a hole across": (polygon(square(0, 0, 4), hole(3, 1, 2)), OUTLINE, "crosses geometry.coordinates[1] at 4, 1"),
    "a hole in a hole": (
        polygon(square(0, 0, 9), hole(1, 1, 5), hole(2, 2, 1)),
        "geometry.coordinates[2]",
        "lies in the hole geometry.coordinates[1]",
    ),
    "a hole as large as its outline": (
        polygon(square(0, 0, 4), hole(0, 0, 4)),
        "geometry.coordinates[1]",
        "lies outside its outline",
    ),
    "a part in another": (
        parts([square(0, 0, 9)], [square(1, 1, 2)]),
        "geometry.coordinates[1][0]",
        "lies in geometry.coordinates[0][0], which is of the same region",
    ),
    "a line": ({"type": "LineString", "coordinates": []}, "geometry.type", "a region is a Polygon or a MultiPolygon"),
    "nothing": (None, "geometry", "write a Polygon or a MultiPolygon"),
}


@pytest.mark.parametrize(("lat", "read"), [(-(10**400), "-0x1b4"), (math.nan, "nan"), (-math.inf, "-inf")])
def test_a_file_that_was_decoded_elsewhere_may_have_any_number(lat: float, read: str) -> None:
    features = [feature(polygon([[0, 0], [1, lat], [1, 1], [0, 0]]))]
    with pytest.raises(RegionFaults, match=f"the latitude {read}"):
        read_regions({"type": "FeatureCollection", "features": features}, IN_SG)


@pytest.mark.parametrize(("geometry", "path", "message"), FAULTS.values(), ids=FAULTS)
def test_each_fault_of_a_shape_is_told_where_it_is(geometry: object, path: str, message: str) -> None:
    with pytest.raises(RegionFaults) as refused:
        read(feature(polygon(square(9, 9, 1)), id="fine"), feature(geometry))
    (fault,) = refused.value.at_features
    assert (fault.feature, fault.id, fault.path) == (1, "x", path)
    assert message in fault.message
    assert str(refused.value).startswith(f"features[1] (x).{path}: ")


SOUND: dict[str, object] = {
    "a hole that touches its outline": polygon(square(0, 0, 4), [[0, 1], [1, 2], [1, 1], [0, 1]]),
    "parts that share an edge": parts([square(0, 0, 1)], [square(1, 0, 1)]),
    "an island in a lake": parts([square(0, 0, 9), hole(1, 1, 5)], [square(2, 2, 2)]),
    "a point that stands twice": polygon([[0, 0], [1, 0], [1, 0], [1, 1], [0, 0]]),
    "heights": polygon([[*at, 12.5] for at in square(0, 0, 1)]),
}


@pytest.mark.parametrize("geometry", SOUND.values(), ids=SOUND)
def test_a_sound_shape_is_taken_as_it_is(geometry: object) -> None:
    assert not read(feature(geometry)).mended


def test_rings_are_turned_the_right_way_round_and_told() -> None:
    file = read(feature(polygon(hole(0, 0, 4), square(1, 1, 1))))
    assert [(each.path, each.message) for each in file.mended] == [
        (OUTLINE, "the outline goes round clockwise; it was turned the other way"),
        ("geometry.coordinates[1]", "the hole goes round counter-clockwise; it was turned the other way"),
    ]
    assert only(file).parts == only(read(feature(polygon(square(0, 0, 4), hole(1, 1, 1))))).parts


def test_a_ring_across_the_antimeridian_goes_the_short_way_round() -> None:
    file = read(
        feature(
            polygon(
                [[179, 0], [-179, 0], [-179, 1], [179, 1], [179, 0]],
                [[-180, 0.2], [-179.5, 0.8], [-179.5, 0.2], [-180, 0.2]],
            )
        )
    )
    ((outline, inner),) = only(file).parts
    assert [x for x, _ in outline] == [179, 181, 181, 179, 179]
    assert {x for x, _ in inner} == {180, 180.5}


def test_what_a_feature_does_not_say_is_usual() -> None:
    file = read(
        {"type": "Feature", "id": "a", "properties": None, "geometry": polygon(square(0, 0, 1))},
        feature(polygon(square(0, 0, 1)), id="b", kind="city", name=" Bee "),
        feature(polygon(square(0, 0, 1)), id="c", kind="city", priority=3, country="MY"),
    )
    told = {
        region.id: (region.name, region.kind, region.priority) for each in file.by_country.values() for region in each
    }
    assert told == {"a": ("a", "region", 0), "b": ("Bee", "city", 20), "c": ("c", "city", 3)}
    assert {country: len(regions) for country, regions in file.by_country.items()} == {"SG": 2, "MY": 1}


def test_every_fault_of_properties_is_told() -> None:
    shape = polygon(square(0, 0, 1))
    with pytest.raises(RegionFaults) as refused:
        read(
            feature(shape, id="a/b", kind="City", priority=-1, name="", country="Singapore"),
            feature(shape, country="XX"),
            feature(shape),
            {"type": "Point"},
            usual=Usual(None, MAPS, {}),
        )
    assert [(each.feature, each.path) for each in refused.value.at_features] == [
        (0, "properties.id"),
        (0, "properties.kind"),
        (0, "properties.country"),
        (0, "properties.name"),
        (0, "properties.priority"),
        (1, "properties.country"),
        (2, "properties.country"),
        (2, "properties.id"),
        (3, "type"),
    ]


def test_an_id_of_another_country_is_told() -> None:
    usual = Usual("SG", MAPS, {"MY": {"a"}, "SG": {"b"}})
    with pytest.raises(RegionFaults, match=r"features\[0\] \(a\)\.properties\.id: a is a region of MY") as refused:
        read(*[feature(polygon(square(0, 0, 1)), id=id_) for id_ in "abc"], usual=usual)
    assert len(refused.value.at_features) == 1


def test_a_property_that_is_nearly_known_is_told() -> None:
    (told,) = read(feature(polygon(square(0, 0, 1)), priorty=3, colour="red")).mended
    assert str(told) == "features[0] (x).properties.priorty: passed over; did you mean priority?"


def test_no_more_than_a_thousand_faults_are_told() -> None:
    with pytest.raises(RegionFaults) as refused:
        read(*[feature(None, id=f"r{number}") for number in range(1_200)])
    sent = pickle.loads(pickle.dumps(refused.value))  # noqa: S301  # our own, as a process sends it to another
    for each in (refused.value, sent):
        assert (len(each.at_features), each.more) == (1_000, 200)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b"{", "file: not JSON"),
        (b"[]", "type: null; regions are a FeatureCollection"),
        (b'{"type": "FeatureCollection", "features": []}', "features: an array; write an array of at least one"),
    ],
)
def test_what_is_no_file_of_regions_is_refused(written: bytes, message: str) -> None:
    with pytest.raises(DocumentFaults, match=message):
        read_regions(written, IN_SG)


def test_a_large_shape_is_looked_at_in_moments() -> None:
    """A comb of three thousand teeth: each edge is looked at with few others."""
    teeth = [at for number in range(3_000) for at in ([0.0, number / 1_000], [5.0, (number + 0.5) / 1_000])]
    ring: list[Any] = [[9.0, 0.0], [9.0, 3.0], *teeth[::-1], [9.0, 0.0]]
    assert len(only(read(feature(polygon(ring)))).parts[0][0]) == len(ring)


def test_a_shape_of_edges_that_all_lie_across_each_other_is_refused() -> None:
    ring = [[(number * 0.618034 % 1) * 9, 9.0 * (number % 2)] for number in range(600)]
    with pytest.raises(RegionFaults, match="draw it more simply"):
        read(feature(polygon([*ring, ring[0]])))
