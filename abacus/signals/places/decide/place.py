"""A place: a shop that stands at a point. Pure values."""

from typing import NamedTuple, TypeAlias

from abacus.signals.places.decide.point import Point

Attributes: TypeAlias = tuple[tuple[str, str], ...]  # by name
Door: TypeAlias = tuple[str, str, str | None]  # the hours of a place, its country, and a time zone of its own


class Place(NamedTuple):
    """The id is unique over all countries. `categories` go from the widest to the narrowest. `hours` are as
    `decide/hours.py` reads them, by the clock of `timezone`, or else of the country's map; without any nobody knows
    when it is open.
    """

    id: str
    name: str
    point: Point
    country: str
    merchant: str
    brand: str | None = None
    categories: tuple[str, ...] = ()
    hours: str | None = None
    timezone: str | None = None
    attributes: Attributes = ()


class Traits(NamedTuple):
    """What places may have in common: all but an id, a name and a point."""

    country: str
    merchant: str
    brand: str | None
    categories: tuple[str, ...]
    hours: str | None
    timezone: str | None
    attributes: Attributes


def door_of(place: Place | Traits) -> Door | None:
    """All by which it is told whether the place is open; None where nobody knows its hours."""
    return None if place.hours is None else (place.hours, place.country, place.timezone)
