"""The time zones that people choose from, and those of each country, from the tables of the package tzdata."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

UTC: Final = "UTC"
_COUNTRY, _ZONE = 0, 2  # columns of the table


@cache
def zones_by_country() -> Mapping[str, Sequence[str]]:
    """Every zone once, by the code of its country, the largest zone of a country first."""
    table = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for line in table.splitlines():
        if line and not line.startswith("#"):
            columns = line.split("\t")
            found.setdefault(columns[_COUNTRY], []).append(columns[_ZONE])
    return found


@cache
def all_zones() -> Sequence[str]:
    """By name, behind UTC."""
    return [UTC, *sorted(zone for zones in zones_by_country().values() for zone in zones)]
