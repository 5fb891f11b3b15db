"""Answers what is near a point: exactly where, from memory, with what is on offer there."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.nearby.decide.ask import Around, Categories, MaySee, Near, NearbyAsk, Where
from abacus.engage.nearby.decide.clockwork import SECOND
from abacus.engage.nearby.decide.counted import WRITTEN, Counted
from abacus.engage.nearby.decide.here import Here, OnOffer, PlacesOnOffer
from abacus.engage.nearby.decide.meaning import Meaning, tags_of
from abacus.engage.nearby.decide.offers_known import OffersKnown
from abacus.engage.nearby.decide.territory import RegionIds, Territory
from abacus.engage.nearby.offers_here import Grounds, MembersHere, OffersHere
from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.platform.loop_turn import LoopTurn
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.types import Route, Version
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.opening import Opening
from abacus.signals.places.decide.place_index import Keep, PlaceIndex
from abacus.signals.places.decide.point import Point
from abacus.signals.places.place_search import nearest_in_turns

ROUTE: Final = "nearby.categories"
_MOST_BYTES: Final = 24 * 1024 * 1024
_LIFETIMES: Final = Lifetimes(fresh_s=30.0, stale_s=270.0, away_s=300.0)
_OF_COUNT: Final = 150  # bytes
_OF_TAG: Final = 120
_OLD_S: Final = 40.0  # three readings of what is kept in memory have failed
_TOO_OLD_S: Final = 600.0

# The countries that the caller may see, the regions of a point, and what places there have their meanings from.
_Key: TypeAlias = tuple[tuple[str, ...], RegionIds, Grounds]


class Ground(Protocol):
    """Where places and regions lie, as a process keeps it. `age_s` is how long ago all was read that is answered from;
    what changes is announced besides.
    """

    @property
    def age_s(self) -> float: ...
    def territory(self) -> Territory: ...
    def places(self) -> PlaceIndex: ...
    def maps(self) -> Maps: ...
    async def reach(self, version: int) -> None: ...


class Nearby:
    """One for each process. Its methods raise `Unavailable` where what is known is too old."""

    def __init__(self, ground: Ground, offers: OffersHere, index: OfferIndex, caches: Caches, *, clock: Clock) -> None:
        self._ground = ground
        self._offers = offers
        self._clock = clock
        self._opened: tuple[datetime, Maps, Opening] | None = None
        self._known = OffersKnown(index)
        self._keys_seen = offers.keys_changed
        route = Route[_Key, Counted](
            ROUTE,
            _LIFETIMES,
            _MOST_BYTES,
            size_of=_size_of,
            tags_of=lambda _, counted: counted.tags,
            until_of=lambda counted: counted.on_offer.until / SECOND,
            within_s=None,
            codec=WRITTEN,
        )
        self._cache = caches.of(route, self._counted, self._version)
        index.hear(self)

    def came(self, armed: Armed) -> None:
        if self._offers.keys_changed == self._keys_seen:
            self._cache.drop(tags_of(armed))
            return
        # Places have other meanings, of which no answer has the tags.
        self._keys_seen = self._offers.keys_changed
        self._cache.drop_all()

    left = spent = came

    def places_changed(self, cells: Iterable[RegionIds]) -> None:
        """Places came to these regions, or left them."""
        self._cache.drop([_tag_of_cell(each) for each in cells])

    def regions_changed(self) -> None:
        self._cache.drop_all()

    async def reach(self, version: int) -> None:
        """Returns when what is answered has this version of the places. Raises `Refused` where there is none."""
        await self._ground.reach(version)

    def where(self, point: Point, may_see: MaySee) -> Where:
        return _where(self._ground.territory(), point, may_see)

    async def around(self, ask: NearbyAsk, may_see: MaySee, members: MembersHere) -> Around:
        known_s, territory, places = self._known_s(), self._ground.territory(), self._ground.places()
        where, now = _where(territory, ask.point, may_see), self._clock.now()
        opening = self._opening(now)
        keep = _kept(ask, territory.countries(), may_see, opening)
        near = await nearest_in_turns(places, ask.point, ask.k, ask.radius_m, keep, sought=ask.sought, turn=LoopTurn())
        notes = self._offers.notes(places, [number for number, _ in near], territory)
        meanings = [each.meaning for each in notes]
        if ask.member_id is not None:
            here, age_s = await members.told(meanings, ask.member_id)
        else:
            here, age_s = await self._offers.all_of_everybody(meanings)
        told = [
            Near(note.written, metres, None if note.door is None else opening.of(note.door), each)
            for note, (_, metres), each in zip(notes, near, here, strict=True)
        ]
        is_old = known_s > _OLD_S
        is_degraded = is_old or any(each.is_degraded for each in here)
        return Around(where, told, max(age_s, known_s if is_old else 0.0), is_degraded)

    def _opening(self, now: datetime) -> Opening:
        """Hours are told in minutes, so that what is open is the same for all who ask in one."""
        minute, maps, known = now.replace(second=0, microsecond=0), self._ground.maps(), self._opened
        if known is None or known[0] != minute or known[1] is not maps:
            known = self._opened = minute, maps, Opening(now, maps)
        return known[2]

    async def categories(self, point: Point, may_see: MaySee) -> Categories:
        known_s, territory = self._known_s(), self._ground.territory()
        where, regions = _where(territory, point, may_see), territory.ids(territory.regions.at(point))
        countries = tuple(sorted(filter(may_see, territory.countries()))) if where.regions else ()
        if not countries:
            return Categories(where, OnOffer((), ()), 0.0, is_degraded=known_s > _OLD_S)
        answer = await self._cache.get((countries, regions, self._offers.grounds(countries)))
        on_offer, age_s = answer.value.on_offer, answer.age_s + answer.value.age_s
        is_old = known_s > _OLD_S
        return Categories(where, on_offer, max(age_s, known_s if is_old else 0.0), on_offer.is_degraded or is_old)

    def _version(self, key: _Key) -> Version:
        """What this process knows of all that a count follows from."""
        countries, *_ = key
        edition = self._ground.territory().regions.edition
        return (self._ground.places().version, edition, *map(self._known.of, countries))

    async def _counted(self, key: _Key) -> Counted:
        """What is on offer there for everybody. Places that mean the same are asked for once."""
        countries, regions, _ = key
        territory, places, turn = self._ground.territory(), self._ground.places(), LoopTurn()
        found, known, age_s = PlacesOnOffer(), dict[Meaning, Here](), 0.0
        for number in [*territory.within(regions)]:
            await turn.rest()
            place = places.at(number)  # meanwhile it may have moved, or its number may be that of another one
            if place is None or place.country not in countries or territory.regions_of(place) != regions:
                continue
            if (meaning := self._offers.meaning(place, regions)) is None:
                continue
            if (here := known.get(meaning)) is None:
                here, since_s = await self._offers.of_everybody(meaning)
                known[meaning], age_s = here, max(age_s, since_s)
            found.add(place, here)
        tags = {_tag_of_cell(regions)}
        for meaning in known:
            tags.update(meaning.tags())
        return Counted(found.counted(), tags, age_s)

    def _known_s(self) -> float:
        """How long ago it was read what is answered from. Raises `Unavailable` where that is too long."""
        age_s = self._ground.age_s
        if age_s > _TOO_OLD_S:
            raise Unavailable("places", f"what is known is {age_s:.0f} s old")
        return age_s


def _where(territory: Territory, point: Point, may_see: MaySee) -> Where:
    seen = tuple([each for each in territory.regions.at(point) if may_see(each.country)])
    return Where(territory.ids(seen), None if seen else territory.regions.nearest(point, may_see))


def _size_of(_key: _Key, counted: Counted) -> int:
    counts = len(counted.on_offer.categories) + len(counted.on_offer.brands)
    return _OF_COUNT * counts + _OF_TAG * len(counted.tags)


def _tag_of_cell(regions: RegionIds) -> str:
    return f"cell:{','.join(regions)}"


def _kept(ask: NearbyAsk, countries: Collection[str], may_see: MaySee, opening: Opening) -> Keep | None:
    """None where all are kept."""
    seen = {each for each in countries if may_see(each)}
    if len(seen) == len(countries):
        return (lambda traits: opening.is_open(traits) is True) if ask.open_now else None
    if ask.open_now:
        return lambda traits: traits.country in seen and opening.is_open(traits) is True
    return lambda traits: traits.country in seen
