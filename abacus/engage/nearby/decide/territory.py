"""The regions of each place, by one edition of the regions, and the places that lie in the same ones. Pure."""

from collections import Counter
from collections.abc import Collection
from typing import Final, TypeAlias

from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.region_index import Found, RegionIndex

RegionIds: TypeAlias = tuple[str, ...]  # in their order

_NO_PLACES: Final[frozenset[str]] = frozenset()


class Territory:
    """Places come and go; for other regions there is another one. Places are told by their ids."""

    def __init__(self, regions: RegionIndex) -> None:
        self.regions: Final = regions
        self._ids: dict[Found, RegionIds] = {}  # one for all that are equal
        self._of: dict[str, tuple[RegionIds, str]] = {}  # with their countries
        self._cells: dict[RegionIds, set[str]] = {}
        self._countries = Counter[str]()

    def __len__(self) -> int:
        return len(self._of)

    def places(self) -> Collection[str]:
        return self._of.keys()

    def countries(self) -> Collection[str]:
        """In which there are places."""
        return self._countries.keys()

    def ids(self, found: Found) -> RegionIds:
        ids = self._ids.get(found)
        if ids is None:
            ids = self._ids[found] = tuple([each.id for each in found])
        return ids

    def put(self, place: Place) -> RegionIds:
        """Returns the regions that it lies in."""
        self.remove(place.id)
        ids = self.ids(self.regions.at(place.point))
        self._of[place.id] = ids, place.country
        self._cells.setdefault(ids, set()).add(place.id)
        self._countries[place.country] += 1
        return ids

    def remove(self, place_id: str) -> RegionIds | None:
        """Returns the regions that it lay in; None where it was not there."""
        gone = self._of.pop(place_id, None)
        if gone is None:
            return None
        ids, country = gone
        self._cells[ids].remove(place_id)
        if not self._cells[ids]:
            del self._cells[ids]
        self._countries[country] -= 1
        if not self._countries[country]:
            del self._countries[country]
        return ids

    def regions_of(self, place: Place) -> RegionIds:
        known = self._of.get(place.id)
        return self.ids(self.regions.at(place.point)) if known is None else known[0]

    def within(self, ids: RegionIds) -> Collection[str]:
        """The places that lie in these regions, and in no others."""
        return self._cells.get(ids, _NO_PLACES)
