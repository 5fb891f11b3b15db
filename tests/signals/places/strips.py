"""Regions for tests: strips of the equator, of which each is a range of longitudes."""

from collections.abc import Sequence
from typing import NamedTuple

from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import RegionName

METRES: float = 111_195.0  # of a degree on the equator


class Strip(NamedTuple):
    """From a longitude to another, exclusively."""

    name: RegionName
    west: float
    east: float


def strip(id_: str, west: float, east: float, *, priority: int = 1, country: str = "SG", kind: str = "city") -> Strip:
    return Strip(RegionName(id_, id_.title(), kind, priority, country), west, east)


class Strips:
    """As `RegionIndex` tells regions."""

    def __init__(self, *strips: Strip) -> None:
        self._strips = {each.name.id: each for each in strips}

    def at(self, point: Point, /) -> Sequence[RegionName]:
        here = [each.name for each in self._strips.values() if each.west <= point[0] < each.east]
        return sorted(here, key=lambda name: name.rank)

    def distance(self, region_id: str, point: Point, /) -> float:
        _, west, east = self._strips[region_id]
        return max(west - point[0], point[0] - east, 0.0) * METRES

    def named(self, region_id: str, /) -> RegionName | None:
        found = self._strips.get(region_id)
        return None if found is None else found.name
