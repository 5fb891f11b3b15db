"""The places in force, in memory: found by their id, and by how near they are. Pure.

What many places have in common stands there once: a place is its id, its name, its point, and a reference to its
traits. It has a number as long as it is there; the number of a place that was removed goes to another one.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.signals.places.decide.place import Place, Traits
from abacus.signals.places.decide.place_tree import (
    Filter,
    Found,
    PlaceTree,
    metres_of,
    nearest_of,
    square_of,
    vector_of,
)
from abacus.signals.places.decide.point import Point

Keep: TypeAlias = Callable[[Traits], bool]
Near: TypeAlias = tuple[int, float]  # the number of a place, and how many metres away it is

USUAL_K: Final = 20  # places that are told
MOST_K: Final = 50
USUAL_RADIUS_M: Final = 5_000
FARTHEST_M: Final = 50_000
_FEW: Final = 1_000  # places, which are looked at one by one
_OWN: Final = 3  # fields of a place that are its own; the others are its traits


class Sought(NamedTuple):
    """What places have to have. A category is one of theirs."""

    merchant: str | None = None
    brand: str | None = None
    category: str | None = None


ANY: Final = Sought()


class _Alike:
    """Places with the same traits, by their numbers."""

    __slots__ = ("found_by", "numbers", "values")

    def __init__(self, place: Place) -> None:
        self.values = Traits(*place[_OWN:])
        by_categories = (Sought(category=each) for each in place.categories)
        self.found_by = frozenset({Sought(merchant=place.merchant), Sought(brand=place.brand), *by_categories} - {ANY})
        self.numbers: set[int] = set()


class _Judged(dict[_Alike, bool]):
    """What is kept, judged once for all places that are alike."""

    def __init__(self, keep: Keep) -> None:
        super().__init__()
        self._keep = keep

    def __missing__(self, alike: _Alike) -> bool:
        kept = self[alike] = self._keep(alike.values)
        return kept


class _Having:
    """The traits with one thing that can be sought, and how many places have it."""

    __slots__ = ("places", "traits")

    def __init__(self) -> None:
        self.places = 0
        self.traits: set[_Alike] = set()


_NOWHERE: Final = _Having()


class PlaceIndex:
    """`version` is that of the latest change of all places. A change of one place takes some microseconds.

    `beside` has what the user of the index keeps beside each place, by its number, until the place changes.
    """

    def __init__(self) -> None:
        self.version = 0
        self.changes = 0  # of this index
        self.beside: list[Any] = []
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._names: list[str] = []
        self._lons = array("d")
        self._lats = array("d")
        self._traits: list[_Alike] = []
        self._free: list[int] = []  # numbers of places that were removed
        self._known: dict[tuple[object, ...], _Alike] = {}  # by their values
        self._having: dict[Sought, _Having] = {}
        self._tree = PlaceTree()

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Place]:
        """In the order of their ids."""
        return (self._place(self._numbers[id_]) for id_ in sorted(self._numbers))

    def numbers(self) -> range:
        """Of all places, and of such as were removed."""
        return range(len(self._ids))

    def number_of(self, id_: str) -> int | None:
        return self._numbers.get(id_)

    def at(self, number: int) -> Place | None:
        """The place that has this number now."""
        return self._place(number) if self._ids[number] else None

    def of(self, id_: str) -> Place | None:
        number = self._numbers.get(id_)
        return None if number is None else self._place(number)

    def put(self, place: Place) -> int:
        """In place of the one with its id, if there is one. Returns its number."""
        self.remove(place.id)
        self.changes += 1
        number = self._number(place, traits := self._shared(place))
        self._numbers[place.id] = number
        traits.numbers.add(number)
        for each in traits.found_by:
            self._having[each].places += 1
        self._tree.put(number, vector_of(place.point))
        return number

    def remove(self, id_: str) -> int | None:
        """Returns the number that it had."""
        number = self._numbers.pop(id_, None)
        if number is None:
            return None
        self.changes += 1
        self._tree.remove(number, vector_of((self._lons[number], self._lats[number])))
        traits = self._traits[number]
        traits.numbers.discard(number)
        for each in traits.found_by:
            self._having[each].places -= 1
        if not traits.numbers:
            self._forget(traits)
        self._ids[number] = self._names[number] = ""
        self.beside[number] = None
        self._free.append(number)
        return number

    def nearest(
        self, point: Point, k: int, radius_m: float, keep: Keep | None = None, *, sought: Sought = ANY
    ) -> list[tuple[Place, float]]:
        """The `k` nearest places within a radius with what is sought, and kept, each with its metres on the sphere. Of
        places that are as far the lower id comes first.
        """
        search = self.search(point, k, radius_m, keep, sought=sought)
        while (near := next(search)) is None:
            pass
        return [(self._place(number), metres) for number, metres in near]

    def search(
        self, point: Point, k: int, radius_m: float, keep: Keep | None = None, *, sought: Sought = ANY
    ) -> Iterator[list[Near] | None]:
        """The same by their numbers, which come at last; None comes before, whenever some places were looked at. A
        search is worth nothing once `changes` has moved on.
        """
        at, within = vector_of(point), square_of(radius_m)
        having = [self._having.get(each, _NOWHERE) for each in _each(sought)]
        rarest = min(having, key=lambda each: each.places, default=None)
        kept = self._kept(keep, having)
        found: list[Found] = []
        if rarest is None or rarest.places > _FEW:
            for some in self._tree.search(at, k, within, kept):
                if some is None:
                    yield None
                else:
                    found = some
        else:
            lons, lats = self._lons, self._lats
            few = chain.from_iterable(each.numbers for each in rarest.traits)
            found = nearest_of(((each, vector_of((lons[each], lats[each]))) for each in few), at, within)
            found = found if kept is None else kept(found)
        near = [(number, metres_of(square)) for square, number in self._ordered(found)[:k]]
        while near and near[-1][1] > radius_m:
            near.pop()
        yield near

    def _kept(self, keep: Keep | None, having: Sequence[_Having]) -> Filter | None:
        if keep is None and not having:
            return None
        allowed = set.intersection(*(each.traits for each in having)) if having else None
        traits, judged = self._traits, None if keep is None else _Judged(keep)

        def kept(found: list[Found]) -> list[Found]:
            if allowed is not None:
                found = [each for each in found if traits[each[1]] in allowed]
            return found if judged is None else [each for each in found if judged[traits[each[1]]]]

        return kept

    def _ordered(self, found: list[Found]) -> list[Found]:
        """By distance, and by id where two are as far."""
        if len({square for square, _ in found}) < len(found):
            ids = self._ids
            found.sort(key=lambda each: (each[0], ids[each[1]]))
        return found

    def _place(self, number: int) -> Place:
        point = self._lons[number], self._lats[number]
        return tuple.__new__(Place, (self._ids[number], self._names[number], point, *self._traits[number].values))

    def _number(self, place: Place, traits: _Alike) -> int:
        """A number that holds the place."""
        lon, lat = place.point
        if self._free:
            number = self._free.pop()
            self._ids[number], self._names[number], self._traits[number] = place.id, place.name, traits
            self._lons[number], self._lats[number] = lon, lat
            return number
        self._ids.append(place.id)
        self._names.append(place.name)
        self._traits.append(traits)
        self.beside.append(None)
        self._lons.append(lon)
        self._lats.append(lat)
        return len(self._ids) - 1

    def _shared(self, place: Place) -> _Alike:
        known = self._known.get(place[_OWN:])
        if known is None:
            known = _Alike(place)
            self._known[known.values] = known
            for each in known.found_by:
                self._having.setdefault(each, _Having()).traits.add(known)
        return known

    def _forget(self, traits: _Alike) -> None:
        del self._known[traits.values]
        for each in traits.found_by:
            having = self._having[each]
            having.traits.discard(traits)
            if not having.traits:
                del self._having[each]


def _each(sought: Sought) -> frozenset[Sought]:
    """What is sought, one by one."""
    merchant, brand, category = sought
    return frozenset({Sought(merchant=merchant), Sought(brand=brand), Sought(category=category)} - {ANY})
