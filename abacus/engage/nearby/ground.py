"""Where places and regions lie, as a process keeps it: other regions are looked up for all places, and then used."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final, Protocol

from abacus.core.errors import Unavailable
from abacus.engage.nearby.decide.territory import RegionIds, Territory
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.loop_turn import LoopTurn
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.place_index import PlaceIndex
from abacus.signals.places.decide.region_index import RegionIndex
from abacus.signals.places.place_directory import PlaceDirectory

_LOOK_EVERY_S: Final = 0.2
_TURN_S: Final = 0.001  # requests are answered in between
_REACHED_WITHIN_S: Final = 2.0


class GroundListener(Protocol):
    """Hears what has changed on the ground."""

    def places_changed(self, cells: Collection[RegionIds]) -> None:
        """Places came to these regions, or left them."""

    def regions_changed(self) -> None: ...


class KeptGround:
    """`others` are further copies that answers are made of, whose ages count."""

    def __init__(
        self,
        places: PlaceDirectory,
        regions: FreshCopy[Any, RegionIndex],
        maps: FreshCopy[Any, Maps],
        others: Sequence[FreshCopy[Any, Any]] = (),
    ) -> None:
        self._places = places
        self._regions = regions
        self._maps = maps
        self._copies: Sequence[FreshCopy[Any, Any]] = [places, regions, maps, *others]
        self._territory: Territory | None = None
        self._coming: Territory | None = None  # while it is surveyed
        self._listeners: list[GroundListener] = []
        places.on_change(self._changed)

    @property
    def age_s(self) -> float:
        return max(each.age_s for each in self._copies)

    def territory(self) -> Territory:
        """Raises `Unavailable` before it was ever surveyed."""
        if self._territory is None:
            raise Unavailable("places", "not looked up yet")
        return self._territory

    def places(self) -> PlaceIndex:
        return self._places.value()

    def maps(self) -> Maps:
        return self._maps.value()

    async def reach(self, version: int) -> None:
        """Returns when the places have this version. Raises `Unavailable` where it cannot be read in time, and
        `Refused` where there is none.
        """
        if self._places.value().version >= version:
            return
        try:
            async with asyncio.timeout(_REACHED_WITHIN_S):
                await self._places.at_version(version)
        except TimeoutError:
            raise Unavailable("places", f"version {version} was not read within {_REACHED_WITHIN_S:g} s") from None

    def hear(self, listener: GroundListener) -> None:
        self._listeners.append(listener)

    async def survey(self) -> None:
        """Looks up the regions of all places where the regions are others than they were. Raises `Unavailable`."""
        regions, before = self._regions.value(), self._territory
        if before is not None and before.regions.edition == regions.edition:
            return
        await self._surveyed(self._places.value(), regions)
        for each in self._listeners:
            each.regions_changed()

    async def keep_surveying(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.survey()
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _surveyed(self, places: PlaceIndex, regions: RegionIndex) -> None:
        coming = self._coming = Territory(regions)
        turn = LoopTurn(_TURN_S)
        try:
            for number in places.numbers():
                if (place := places.at(number)) is not None:
                    coming.put(number, place)
                await turn.rest()
            self._territory = coming
        finally:
            self._coming = None

    def _changed(self, numbers: Collection[int]) -> None:
        places = self._places.value()
        for territory in (self._territory, self._coming):
            if territory is None:
                continue
            cells = set[RegionIds]()
            for number in numbers:
                if (left := territory.remove(number)) is not None:
                    cells.add(left)
                if (place := places.at(number)) is not None:
                    cells.add(territory.put(number, place))
            if territory is self._territory:
                for each in self._listeners:
                    each.places_changed(cells)
