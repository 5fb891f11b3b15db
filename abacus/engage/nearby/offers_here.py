"""What is on offer at places: for everybody kept by what it follows from, for a member asked each time."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from abacus.core.clock import Clock
from abacus.core.errors import SetAside
from abacus.engage.nearby.decide.clockwork import SECOND, unchanged_until
from abacus.engage.nearby.decide.here import MOST_SHOWN, Here, points_a_unit
from abacus.engage.nearby.decide.meaning import KeysInUse, Meaning, Priced, tags_of
from abacus.engage.nearby.decide.notes import Footing, Note
from abacus.engage.nearby.decide.territory import Territory
from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.ask import Ask, Counted, Shown
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.purchase import Purchases, typical_units
from abacus.engage.offers.decide.spot import spot_of
from abacus.engage.offers.qualifier import OtherCountry, Qualifier
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.types import Answer, Route
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.place import Place, door_of
from abacus.signals.places.decide.place_index import PlaceIndex

ROUTE: Final = "nearby.offers"
_MOST_BYTES: Final = 64 * 1024 * 1024
# Of what changes without being announced: values that rules of offers look up.
_LIFETIMES: Final = Lifetimes(fresh_s=30.0, stale_s=270.0, away_s=300.0)
_OF_KEY: Final = 400  # bytes
_TRY_AGAIN: Final = 5_000_000  # microseconds until what is missing is looked for again

# The card and the typical purchase of each country.
Grounds: TypeAlias = tuple[tuple[str, int] | None, ...]


class Writer(Protocol):
    """Writes parts of answers as they stand there."""

    def place(self, id_: str, name: str) -> bytes: ...

    def here(self, best: Sequence[Shown], currency: str, in_all: int, earns: str | None) -> bytes:
        """The best offers at a place, the number of all, and the points that a unit of money earns there."""


class ManyHere(NamedTuple):
    """What is on offer at some places, as of `age_s` ago at most."""

    here: Sequence[Here]
    age_s: float


class OffersHere:
    """One for each process. Its methods raise `Unavailable`. `maps` has the typical purchase of each country, by which
    offers are ranked.
    """

    def __init__(
        self,
        qualifier: Qualifier,
        index: OfferIndex,
        maps: Callable[[], Maps],
        caches: Caches,
        *,
        clock: Clock,
        writer: Writer,
    ) -> None:
        self._qualifier = qualifier.quietly()
        self._index = index
        self._maps = maps
        self._clock = clock
        self._writer = writer
        self._purchases = Purchases()
        self._keys = KeysInUse(index)
        self._meanings: dict[Meaning, Meaning] = {}  # one object for all that are equal
        self._meanings_as_of = self._keys.changes
        self._footings: dict[str, Footing] = {}
        self._priced: dict[str, tuple[PublishedCard, object, Priced]] = {}
        self.nothing: Final = Here(writer.here((), "", 0, None), 0)
        route = Route[Meaning, Here](
            ROUTE,
            _LIFETIMES,
            _MOST_BYTES,
            size_of=lambda _, here: _OF_KEY + len(here.written),
            tags_of=lambda meaning, _: meaning.tags(),
            until_of=lambda here: here.until / SECOND,
            within_s=None,
        )
        self._cache = caches.of(route, self._computed)
        index.hear(self)

    def rehearsing(self, qualifier: Qualifier) -> "MembersHere":
        """What is on offer for members of the sandbox."""
        return MembersHere(self, qualifier.quietly())

    @property
    def of_members(self) -> "MembersHere":
        return MembersHere(self, self._qualifier)

    @property
    def keys_changed(self) -> int:
        """How often the keys that offers speak of have changed, and with them the meanings of places."""
        return self._keys.changes

    def grounds(self, countries: Iterable[str]) -> Grounds:
        """What the meanings of places in these countries follow from, beside the places and those keys."""
        return tuple([each and (each.card, each.purchase) for each in map(self.priced, countries)])

    def came(self, armed: Armed) -> None:
        self._cache.drop(tags_of(armed))

    left = spent = came

    def notes(self, places: PlaceIndex, numbers: Iterable[int], territory: Territory) -> list[Note]:
        """Of the places with these numbers."""
        beside, footings = places.beside, dict[str, Footing]()
        found: list[Note] = []
        for number in numbers:
            note: Note | None = beside[number]
            if note is None or (footings.get(note.country) or self._footing(note.country, territory, footings)) is not (
                note.footing
            ):
                note = beside[number] = self._note(places, number, territory, footings)
            found.append(note)
        return found

    def _note(self, places: PlaceIndex, number: int, territory: Territory, footings: dict[str, Footing]) -> Note:
        place = places.at(number)
        assert place is not None  # noqa: S101  # the caller has found it there
        footing = footings.get(place.country) or self._footing(place.country, territory, footings)
        meaning = self._meaning(place, territory.regions_of(place), footing.priced)
        return Note(place.country, door_of(place), footing, meaning, self._writer.place(place.id, place.name))

    def _footing(self, country: str, territory: Territory, footings: dict[str, Footing]) -> Footing:
        """The same object as long as nothing has changed."""
        footing, now = self._footings.get(country), Footing(territory, self.priced(country), self._keys.changes)
        if (
            footing is None
            or footing.territory is not territory
            or footing.priced is not now.priced
            or footing.changes != now.changes
        ):
            footing = self._footings[country] = now
        footings[country] = footing
        return footing

    def meaning(self, place: Place, regions: tuple[str, ...]) -> Meaning | None:
        """None where no rate card is in force in the country of the place."""
        return self._meaning(place, regions, self.priced(place.country))

    def _meaning(self, place: Place, regions: tuple[str, ...], priced: Priced | None) -> Meaning | None:
        if priced is None:
            return None
        if self._meanings_as_of != self._keys.changes:
            self._meanings_as_of = self._keys.changes
            self._meanings.clear()
        meaning = self._keys.meaning(spot_of(place, regions), priced)
        return self._meanings.setdefault(meaning, meaning)

    def priced(self, country: str) -> Priced | None:
        """The same object as long as nothing has changed."""
        try:
            card = self._qualifier.card(country)
        except SetAside:
            return None
        map_ = self._maps().of(country)
        known = self._priced.get(country)
        if known is not None and known[0] is card and known[1] is map_:
            return known[2]
        currency = card.card.currency
        purchase = typical_units(card.card, map_.typical_purchase)
        priced = Priced(card.name, currency, purchase, frozenset(card.card.verticals))
        self._priced[country] = card, map_, priced
        return priced

    async def all_of_everybody(self, meanings: Sequence[Meaning | None]) -> ManyHere:
        """At places that mean this."""
        values, age_s = self._cache.fresh([each for each in meanings if each is not None])
        there = iter(values)
        found: list[Here] = []
        for meaning in meanings:
            if meaning is None:
                found.append(self.nothing)
            elif (here := next(there)) is not None:
                found.append(here)
            else:
                here, since_s = await self._cache.get(meaning)
                found.append(here)
                age_s = max(age_s, since_s)
        return ManyHere(found, age_s)

    async def of_everybody(self, meaning: Meaning) -> Answer[Here]:
        return await self._cache.get(meaning)

    async def _computed(self, meaning: Meaning) -> Here:
        at = self._clock.now()
        found = await self._counted(self._qualifier, meaning, None)
        item = meaning.item()
        asked = self._index.ask(Asker(meaning.country, at), Question(item, item.line))
        groups = self._index.groups(asked)
        until = unchanged_until((each for group in groups for each in group.offers), asked)
        if found.reading.is_degraded:
            until = min(until, asked.at + _TRY_AGAIN)
        return self._here(meaning, found)._replace(until=until)

    async def for_member(self, qualifier: Qualifier, meaning: Meaning, member_id: str) -> Answer[Here]:
        """A member with points in another country is anybody here."""
        try:
            return Answer(self._here(meaning, await self._counted(qualifier, meaning, member_id)), 0.0)
        except OtherCountry:
            return await self.of_everybody(meaning)

    async def _counted(self, qualifier: Qualifier, meaning: Meaning, member_id: str | None) -> Counted:
        """A purchase is a basket by itself."""
        card = qualifier.card(meaning.country)
        return await qualifier.counted(Ask(card, [meaning.item()], member_id=member_id), MOST_SHOWN)

    def _here(self, meaning: Meaning, found: Counted) -> Here:
        card, tier = self._qualifier.card(meaning.country), found.reading.tier or BASE_TIER
        earning = self._purchases.earning(meaning.item(), card, tier)
        earns = points_a_unit(earning, meaning.currency)
        written = self._writer.here(found.best, meaning.currency, found.in_all, earns)
        return Here(written, found.in_all, is_degraded=found.reading.is_degraded)


class MembersHere:
    """What is on offer for members of the ledger, or of a sandbox."""

    def __init__(self, offers: OffersHere, qualifier: Qualifier) -> None:
        self._offers = offers
        self._qualifier = qualifier

    async def told(self, meanings: Sequence[Meaning | None], member_id: str) -> ManyHere:
        """What is on offer at places that mean this. Equal meanings are asked for once, and all together, so that what
        is slow is waited for once.
        """
        wanted = [each for each in dict.fromkeys(meanings) if each is not None]
        asked = (self._offers.for_member(self._qualifier, each, member_id) for each in wanted)
        found = dict(zip(wanted, await asyncio.gather(*asked), strict=True))
        here = [self._offers.nothing if each is None else found[each].value for each in meanings]
        return ManyHere(here, max((each.age_s for each in found.values()), default=0.0))
