"""Places as documents: what is read is written, and every fault is told at its field."""

import math
from typing import Any

import pytest

from abacus.core.fields import DocumentFaults
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_document import Priced, parse_place, to_document, usual_country
from abacus.signals.places.decide.point import point

SHOP: dict[str, Any] = {
    "id": "s-1",
    "name": "Corner Shop",
    "country": "SG",
    "merchant": "m-17",
    "lat": 1.3,
    "lon": 103.8,
}
FULL: dict[str, Any] = {
    **SHOP,
    "brand": "corner",
    "categories": ["food", "pizza"],
    "hours": "Mo-Fr 09:00-18:00",
    "timezone": "Asia/Singapore",
    "attributes": {"parking": "yes", "floor": "2"},
}
PRICED = Priced({"SG", "FR"})


def test_a_place_says_what_stands_there() -> None:
    assert parse_place(FULL, PRICED) == Place(
        "s-1",
        "Corner Shop",
        point(1.3, 103.8),
        "SG",
        "m-17",
        "corner",
        ("food", "pizza"),
        "Mo-Fr 09:00-18:00",
        "Asia/Singapore",
        (("floor", "2"), ("parking", "yes")),
    )


@pytest.mark.parametrize("document", [SHOP, FULL])
def test_a_place_is_written_as_it_was_read(document: dict[str, Any]) -> None:
    written = to_document(parse_place(document, PRICED))
    assert parse_place(written, PRICED) == parse_place(document, PRICED)
    assert written == document


def test_a_place_that_names_no_country_has_the_usual_one() -> None:
    without = {name: value for name, value in SHOP.items() if name != "country"}
    assert parse_place(without, Priced({"SG", "FR"}, "SG")).country == "SG"
    assert usual_country("FR", {"SG", "FR"}) == "FR"
    assert usual_country(None, {"SG"}) == "SG"
    assert usual_country(None, {"SG", "FR"}) is None


@pytest.mark.parametrize(
    ("fields", "path", "words"),
    [
        ({"id": "shop 1"}, "id", "is not an id"),
        ({"id": None}, "id", "write a string"),
        ({"name": ""}, "name", "is no text of 1 to 200 characters"),
        ({"name": "a\nb"}, "name", "in one line"),
        ({"country": "XX"}, "country", "XX has no rate card"),
        ({"country": "sg"}, "country", "is not a country"),
        ({"lat": 91}, "lat", "is not between -90 and 90"),
        ({"lon": -180.5}, "lon", "is not between -180 and 180"),
        ({"lat": math.nan}, "lat", "is not a number of degrees"),
        ({"lon": math.inf}, "lon", "is not a number of degrees"),
        ({"lat": "1.3"}, "lat", "write a number of degrees"),
        ({"lat": True}, "lat", "write a number of degrees"),
        ({"lat": 10**400}, "lat", "write a number of degrees"),
        ({"lat": 103.8, "lon": 1.3}, "lat", "look swapped"),
        ({"country": "FR", "lat": 2.35, "lon": 48.86}, "lat", "lie far from FR; latitude and longitude look swapped"),
        ({"categories": "food"}, "categories", "write an array of categories"),
        ({"categories": ["a", "b", "c", "d"]}, "categories", "write at most 3"),
        ({"categories": ["food", "food"]}, "categories", "stands there twice"),
        ({"categories": ["fast food"]}, "categories", "is not a category"),
        ({"hours": "always"}, "hours", "is no rule of opening hours"),
        ({"timezone": "Singapore time"}, "timezone", "is not a time zone"),
        ({"attributes": {"floor": 2}}, "attributes.floor", "write a string"),
        ({"attributes": {str(each): "x" for each in range(21)}}, "attributes", "write at most 20"),
        ({"colour": "red"}, "colour", "unknown"),
    ],
)
def test_a_fault_is_told_at_its_field(fields: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(DocumentFaults) as refused:
        parse_place({**SHOP, **fields}, PRICED)
    (fault,) = refused.value.faults
    assert fault.path == path
    assert words in fault.message


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(DocumentFaults) as refused:
        parse_place({"id": "s 1", "lat": 91, "lon": 181, "hours": "?"}, PRICED)
    found = [fault.path for fault in refused.value.faults]
    assert found == ["country", "id", "name", "lat", "lon", "merchant", "hours"]


@pytest.mark.parametrize(
    ("country", "lon", "lat"),
    [("RE", 55.45, -20.88), ("PF", -149.57, -17.53), ("FJ", 178.4, -18.1), ("AQ", 0.0, -90.0), ("XK", 21.2, 42.7)],
)
def test_a_place_on_an_island_far_out_is_not_taken_for_swapped(country: str, lon: float, lat: float) -> None:
    assert parse_place({**SHOP, "country": country, "lon": lon, "lat": lat}, Priced({country})).country == country
