"""The one door to places: they are looked at, loaded, changed and removed here, with the log."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.core.sources import Agent
from abacus.people.decide.rights import check
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.loop_turn import LoopTurn
from abacus.platform.postgres import Also, Pool, nothing_else, together
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_index import FARTHEST_M, PlaceIndex
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.sphere import Box, box_around
from abacus.signals.places.place_store import Entered, PlaceStore, Spot, StoredPlace

_RADII_M: Final = (500, 5_000, FARTHEST_M)  # in which the nearest are looked for, one after the other
_MOST_OF_A_LOOK: Final = 1_000


class Loaded(NamedTuple):
    """What a load did. Whoever asks for `version` sees all of it."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    version: int = 0


class PlaceDesk:
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done, or may not
    be done by the actor. With `people_required` a login may change nothing.
    """

    def __init__(self, pool: Pool, clock: Clock, *, people_required: bool = False) -> None:
        self._store = PlaceStore(pool)
        self._clock = clock
        self._people_required = people_required

    async def find(self, id_: str) -> StoredPlace:
        found = await self._store.find(id_)
        if found is None:
            raise absent("place", id_, "`abacus places nearest LAT LON` prints those near a point")
        return found

    async def within(self, country: str, box: Box, most: int) -> Sequence[Spot]:
        """At most so many places of a country, where they stand."""
        return await self._store.within(country, box, most)

    async def around(self, point: Point, radius_m: float, country: str | None = None) -> PlaceIndex:
        """All places within a radius, and some more, of one country or of all: for a question now and then."""
        index, turn = PlaceIndex(), LoopTurn()
        for each in await self._store.between(box_around(point, radius_m), country):
            index.put(each)
            await turn.rest()
        return index

    async def nearest(self, point: Point, k: int, country: str) -> list[tuple[Place, float]]:
        """The places of a country that are nearest to a point, with their metres, up to `FARTHEST_M`. Few rows are read
        where there are many places.
        """
        near: list[tuple[Place, float]] = []
        for radius_m in _RADII_M:
            index = PlaceIndex()
            for each in await self._store.around(point, box_around(point, radius_m), country, _MOST_OF_A_LOOK):
                index.put(each)
            near = index.nearest(point, k, radius_m)
            if len(near) == k:
                break
        return near

    async def named(self, country: str, text: str, most: int) -> Sequence[Place]:
        """The place of a country with this id; without one, at most so many whose names have the text in them."""
        return await self._store.named(country, text, most)

    async def load(
        self,
        pages: Iterable[Sequence[Place]],
        countries: Mapping[str, int],
        by: Actor,
        *,
        file: str | None = None,
        replace: bool = False,
        tick: Callable[[int], None] = lambda _: None,
    ) -> Loaded:
        """Stores the places of all pages, of which no two have one id, each page in a transaction: a load that was cut
        off is done again. `countries` has how many there are of each. With `replace`, every other place of these
        countries is removed. `tick` is told how many places more are done.
        """
        for country in countries:
            self._check(by, country)
        return await self.enter(pages, countries, by.agent, file=file, replace=replace, tick=tick)

    async def enter(
        self,
        pages: Iterable[Sequence[Place]],
        countries: Mapping[str, int],
        by: Agent,
        *,
        file: str | None = None,
        replace: bool = False,
        tick: Callable[[int], None] = lambda _: None,
    ) -> Loaded:
        """The same for a caller that has checked the rights of who loads, such as those of a partner."""
        if replace and not countries:
            raise Refused("there is no place; to take all away, remove each")
        did = "replace-places" if replace else "load-places"
        told, ids, loaded = False, list[str](), Loaded(version=await self._store.version())
        for page in pages:
            also = nothing_else if told else self._loading(countries, by, did, file)
            entered = await self._store.enter(page, self._clock.now(), also=also)
            told = told or bool(entered.new + entered.changed)
            loaded = _after(loaded, entered, len(page))
            ids += (each.id for each in page) if replace else ()
            tick(len(page))
        if replace:
            also = nothing_else if told else self._loading(countries, by, did, file)
            removed, version = await self._store.remove_others(countries, ids, self._clock.now(), also=also)
            loaded = loaded._replace(removed=removed, version=version)
        return loaded

    async def remove(self, id_: str, by: Actor) -> int:
        """The version since which the place is no more."""
        found = await self.find(id_)
        self._check(by, found.place.country)
        also = self._noted(f"place:{id_}", found.place.country, by.agent, did="remove-place")
        version = await self._store.remove(id_, self._clock.now(), also=also)
        return version if version is not None else found.version

    def _check(self, by: Actor, country: str) -> None:
        check(by, Deed.EDIT_PLACES, country, people_required=self._people_required)

    def _loading(self, countries: Mapping[str, int], by: Agent, did: str, file: str | None) -> Also:
        """An entry for each country."""
        return together(
            *(
                self._noted(f"places:{country}", country, by, did=did, file=file, places=places)
                for country, places in countries.items()
            )
        )

    def _noted(self, subject: str, country: str, by: Agent, **details: object) -> Also:
        return noted(entry_of(by.source, Deed.EDIT_PLACES, subject, self._clock.now(), country=country, **details))


def _after(loaded: Loaded, entered: Entered, places: int) -> Loaded:
    return loaded._replace(
        new=loaded.new + entered.new,
        changed=loaded.changed + entered.changed,
        unchanged=loaded.unchanged + places - entered.new - entered.changed,
        version=entered.version,
    )
