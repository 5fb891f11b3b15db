"""The regions in force of all countries, as a process looks them up."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from abacus.signals.places.decide.country_index import CountryIndex
from abacus.signals.places.decide.point import TURN, Point
from abacus.signals.places.decide.region import RegionName
from abacus.signals.places.decide.sphere import Box

Found: TypeAlias = tuple[RegionName, ...]

NOWHERE: Final[Found] = ()
_ROUND: Final = int(TURN)  # cells of a degree
_SOUTH: Final = 90  # so that latitudes are counted from 0
_WEST: Final = 180


def _anywhere(_country: str) -> bool:
    return True


class RegionIndex:
    """Answers that are equal are one object. `edition` is another one whenever the regions in force are others."""

    def __init__(self, countries: Mapping[str, CountryIndex], editions: Mapping[str, int]) -> None:
        label = " ".join(f"{country}@{number}" for country, number in sorted(editions.items()))
        self.edition: Final = hashlib.blake2b(label.encode(), digest_size=8).hexdigest()
        self._countries = [_Country(country, countries[country]) for country in sorted(countries)]
        self._where = {
            name.id: (country, rank) for country in self._countries for rank, name in enumerate(country.names)
        }
        self._in_cell: dict[int, tuple[_Country, ...]] = {}
        for country in self._countries:
            for cell in country.cells():
                self._in_cell[cell] = (*self._in_cell.get(cell, ()), country)
        self._merged: dict[Found, Found] = {}

    def __len__(self) -> int:
        return len(self._where)

    def boxes(self) -> Iterator[tuple[RegionName, Box]]:
        """Every region, and where it lies at most."""
        for country in self._countries:
            yield from zip(country.names, country.boxes(), strict=True)

    def at(self, point: Point) -> Found:
        """The regions that a point lies in, by falling priority, then by id."""
        countries = self._in_cell.get(int(point[1] + _SOUTH) * _ROUND + int(point[0] + _WEST))
        if countries is None:
            return NOWHERE
        if len(countries) == 1:
            return countries[0].at(point)
        found = [regions for country in countries if (regions := country.at(point))]
        if len(found) <= 1:
            return found[0] if found else NOWHERE
        merged = tuple(sorted((name for regions in found for name in regions), key=lambda name: name.rank))
        return self._merged.setdefault(merged, merged)

    def nearest(self, point: Point, within: Callable[[str], bool] = _anywhere) -> tuple[RegionName, float] | None:
        """The region whose border is nearest, of the countries asked for, and the metres to it; None where there are no
        regions.
        """
        found = [near for each in self._countries if within(each.country) and (near := each.nearest(point))]
        return min(found, key=lambda near: (near[1], near[0].rank), default=None)

    def distance(self, region_id: str, point: Point) -> float:
        """Metres from the region; 0 inside it, infinite where there is no such region any more."""
        country, rank = self._where.get(region_id, (None, 0))
        if country is None:
            return math.inf
        return 0.0 if country.names[rank] in country.at(point) else country.borders.metres(rank, point)

    def named(self, region_id: str) -> RegionName | None:
        country, rank = self._where.get(region_id, (None, 0))
        return country.names[rank] if country is not None else None


class _Country:
    def __init__(self, country: str, index: CountryIndex) -> None:
        self.country = country
        self.names = index.names
        self.borders = index.borders()
        self._outlines = index.outlines
        self._sets = index.sets.all
        self._find = index.finder().find
        self._answers: list[Found] = []
        self._grow()

    def at(self, point: Point) -> Found:
        number = self._find(point)
        answers = self._answers
        if number >= len(answers):  # a set that nothing but a border has
            self._grow()
        return answers[number]

    def _grow(self) -> None:
        names = self.names
        self._answers += [tuple([names[rank] for rank in ranks]) for ranks in self._sets[len(self._answers) :]]

    def nearest(self, point: Point) -> tuple[RegionName, float] | None:
        near = self.borders.nearest(point)
        return None if near is None else (self.names[near[0]], near[1])

    def boxes(self) -> Iterator[Box]:
        return map(Box._make, zip(*self._outlines[:4], strict=True))

    def cells(self) -> set[int]:
        """The cells of a degree that its regions may reach into."""
        boxes = {tuple(map(math.floor, box)) for box in zip(*self._outlines[:4], strict=True)}
        return {
            (row + _SOUTH) * _ROUND + (column + _WEST) % _ROUND
            for west, south, east, north in boxes
            for row in range(south, north + 1)
            for column in range(west, east + 1)
        }
