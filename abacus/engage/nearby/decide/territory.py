"""The regions of each place, by one edition of the regions, and the places that lie in the same ones. Pure."""

from array import array
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Final, TypeAlias

from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.region_index import Found, RegionIndex

RegionIds: TypeAlias = tuple[str, ...]  # in their order


class _Cell:
    """Places of one country that lie in the same regions, and in no others, by their numbers."""

    __slots__ = ("country", "numbers", "regions")

    def __init__(self, regions: RegionIds, country: str) -> None:
        self.regions = regions
        self.country = country
        self.numbers = array("i")


class Territory:
    """Places come and go; for other regions there is another one. Places are told by their numbers in the index."""

    def __init__(self, regions: RegionIndex) -> None:
        self.regions: Final = regions
        self._ids: dict[Found, RegionIds] = {}  # one for all that are equal
        self._cells: dict[RegionIds, dict[str, _Cell]] = {}  # by country
        self._of: list[_Cell | None] = []  # each place
        self._at = array("i")  # where it stands in its cell
        self._countries = Counter[str]()

    def __len__(self) -> int:
        return self._countries.total()

    def countries(self) -> Collection[str]:
        """In which there are places."""
        return self._countries.keys()

    def ids(self, found: Found) -> RegionIds:
        ids = self._ids.get(found)
        if ids is None:
            ids = self._ids[found] = tuple([each.id for each in found])
        return ids

    def regions_of(self, place: Place) -> RegionIds:
        return self.ids(self.regions.at(place.point))

    def put(self, number: int, place: Place) -> RegionIds:
        """Returns the regions that it lies in."""
        self.remove(number)
        ids = self.regions_of(place)
        cell = self._cell(ids, place.country)
        missing = number + 1 - len(self._of)
        if missing > 0:
            self._of += [None] * missing
            self._at.extend([0] * missing)
        self._of[number], self._at[number] = cell, len(cell.numbers)
        cell.numbers.append(number)
        self._countries[place.country] += 1
        return ids

    def remove(self, number: int) -> RegionIds | None:
        """Returns the regions that it lay in; None where it was not there."""
        cell = self._of[number] if number < len(self._of) else None
        if cell is None:
            return None
        self._of[number] = None
        last, at = cell.numbers.pop(), self._at[number]
        if last != number:
            cell.numbers[at], self._at[last] = last, at
        if not cell.numbers:
            self._forget(cell)
        self._countries[cell.country] -= 1
        if not self._countries[cell.country]:
            del self._countries[cell.country]
        return cell.regions

    def within(self, ids: RegionIds) -> Iterator[int]:
        """The places that lie in these regions, and in no others."""
        return chain.from_iterable(cell.numbers for cell in self._cells.get(ids, {}).values())

    def _cell(self, ids: RegionIds, country: str) -> _Cell:
        cells = self._cells.setdefault(ids, {})
        if country not in cells:
            cells[country] = _Cell(ids, country)
        return cells[country]

    def _forget(self, cell: _Cell) -> None:
        cells = self._cells[cell.regions]
        del cells[cell.country]
        if not cells:
            del self._cells[cell.regions]
