"""Places, read from documents and written again. Pure."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from abacus.core import fields
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, quoted, shown, string
from abacus.core.ids import NAME_PATTERN
from abacus.signals.places.decide.hours import parse_hours
from abacus.signals.places.decide.place import Attributes, Place
from abacus.signals.places.decide.point import Point, point
from abacus.signals.places.decide.whereabouts import looks_swapped

MOST_CATEGORIES: Final = 3
MOST_ATTRIBUTES: Final = 20
LONGEST: Final = 200  # characters of a name, of a merchant, and of an attribute

_DECIMALS: Final = 12  # of degrees: a tenth of a micrometre
_ID: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_NOWHERE: Final[Point] = (0.0, 0.0)
_TEXT: Final = re.compile(rf"[^\x00-\x1f\x7f\ud800-\udfff]{{1,{LONGEST}}}")

_id: Final = fields.matching(
    _ID, "is not an id; write at most 64 letters, digits, dots, dashes, underscores and colons (shop-17)"
)
_text: Final = fields.matching(_TEXT, f"is no text of 1 to {LONGEST} characters in one line")
_category: Final = fields.matching(
    re.compile(NAME_PATTERN), "is not a category; write at most 64 letters, digits, dots, dashes and underscores"
)


class Priced(NamedTuple):
    """The countries that have a card, and the country of places that name none."""

    countries: Collection[str]
    usual: str | None = None


def usual_country(given: str | None, countries: Collection[str]) -> str | None:
    """The country that was named, or else the only country with a card."""
    return given if given is not None else next(iter(countries)) if len(countries) == 1 else None


def parse_place(document: Mapping[str, object], priced: Priced) -> Place:
    """Raises `DocumentFaults` with every fault of a document."""
    faults: list[Fault] = []
    top = Fields(document, "", faults)
    country = _country(top, priced)
    place = Place(
        top.read("id", _id, ""),
        top.read("name", _text, ""),
        _point(top, country, faults),
        country,
        top.read("merchant", _text, ""),
        top.read_if_there("brand", _text, None),
        top.read_if_there("categories", _categories, ()),
        top.read_if_there("hours", _hours, None),
        top.read_if_there("timezone", fields.time_zone, None),
        _attributes(top.table("attributes", optional=True)),
    )
    top.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return place


def to_document(place: Place) -> dict[str, Any]:
    """As `parse_place` reads it, with coordinates as people write them."""
    lon, lat = (round(each, _DECIMALS) for each in place.point)
    document: dict[str, Any] = {
        "id": place.id,
        "name": place.name,
        "country": place.country,
        "merchant": place.merchant,
        "brand": place.brand,
        "categories": list(place.categories),
        "lat": lat,
        "lon": lon,
        "hours": place.hours,
        "timezone": place.timezone,
        "attributes": dict(place.attributes),
    }
    return {name: value for name, value in document.items() if value not in (None, [], {})}


def _country(top: Fields, priced: Priced) -> str:
    if "country" not in top.values and priced.usual is not None:
        top.pass_over("country")
        country = priced.usual
    elif "country" not in top.values:
        top.pass_over("country")
        top.note("country", "missing, and there are several: write it, or name the one of all with --country")
        return ""
    else:
        country = top.read("country", fields.country, "")
    if country and country not in priced.countries:
        top.note("country", f"{country} has no rate card")
    return country


def _point(top: Fields, country: str, faults: list[Fault]) -> Point:
    noted = len(faults)
    lat, lon = top.read("lat", _degrees, 0.0), top.read("lon", _degrees, 0.0)
    if len(faults) > noted:
        return _NOWHERE
    try:
        found = point(lat, lon)
    except DocumentFaults as error:
        faults += error.faults
        return _NOWHERE
    if looks_swapped(found, country):
        top.note("lat", f"{lat:g} and lon {lon:g} lie far from {country}; latitude and longitude look swapped")
    return found


def _degrees(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Bad(f"{shown(value)}; write a number of degrees, such as 1.3521")
    try:
        return float(value)
    except OverflowError:
        raise Bad(f"{shown(value)}; write a number of degrees, such as 1.3521") from None


def _categories(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise Bad(f'{shown(value)}; write an array of categories, the widest first, such as ["food", "pizza"]')
    if len(value) > MOST_CATEGORIES:
        raise Bad(f"{len(value)} categories; write at most {MOST_CATEGORIES}, from the widest to the narrowest")
    found = tuple(map(_category, value))
    if len(set(found)) < len(found):
        raise Bad(f"{quoted(', '.join(found))}: a category stands there twice")
    return found


def _hours(value: object) -> str:
    text = string(value)
    parse_hours(text)
    return text


def _attributes(table: Fields) -> Attributes:
    if not table.values:
        return ()
    names = table.names(_category, at_most=MOST_ATTRIBUTES)
    return tuple(sorted((name, table.read(name, _text, "")) for name in names))
