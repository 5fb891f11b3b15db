"""The time zones that people choose from, and those of each country, from the tables of the package tzdata."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

UTC: Final = "UTC"
_COUNTRY, _CITY, _ZONE = 0, 1, 2  # columns of the table
_ANGLE: Final = re.compile("([+-])([0-9]{2,3})([0-9]{2})([0-9]{2})?(?![0-9])")  # +0117 or -0740023


@cache
def zones_by_country() -> Mapping[str, Sequence[str]]:
    """Every zone once, by the code of its country, the largest zone of a country first."""
    found: dict[str, list[str]] = {}
    for columns in _table():
        found.setdefault(columns[_COUNTRY], []).append(columns[_ZONE])
    return found


@cache
def cities_by_country() -> Mapping[str, Sequence[tuple[float, float]]]:
    """Longitude and latitude of the largest city of each zone, by the code of the country."""
    found: dict[str, list[tuple[float, float]]] = {}
    for columns in _table():
        latitude, longitude = (_degrees(*angle) for angle in _ANGLE.findall(columns[_CITY]))
        found.setdefault(columns[_COUNTRY], []).append((longitude, latitude))
    return found


def _table() -> Iterator[Sequence[str]]:
    """The rows of the table, as columns."""
    table = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    return (line.split("\t") for line in table.splitlines() if line and not line.startswith("#"))


def _degrees(sign: str, degrees: str, minutes: str, seconds: str) -> float:
    angle = int(degrees) + int(minutes) / 60 + int(seconds or 0) / 3600
    return -angle if sign == "-" else angle


@cache
def all_zones() -> Sequence[str]:
    """By name, behind UTC."""
    return [UTC, *sorted(zone for zones in zones_by_country().values() for zone in zones)]
