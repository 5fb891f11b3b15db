"""What is on offer at places: for everybody kept by what it follows from, for a member asked each time."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.core.errors import SetAside
from abacus.engage.nearby.decide.clockwork import SECOND, unchanged_until
from abacus.engage.nearby.decide.here import NOTHING_HERE, Here, best_of, points_a_unit
from abacus.engage.nearby.decide.meaning import KeysInUse, Meaning, Priced, tags_of
from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.ask import Answer as Offered
from abacus.engage.offers.decide.ask import Ask, Scenario, Shown
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.purchase import Purchases
from abacus.engage.offers.decide.saving import rounded_units
from abacus.engage.offers.decide.spot import spot_of
from abacus.engage.offers.qualifier import OtherCountry, Qualifier
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.types import Answer, Route
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.place import Place

ROUTE: Final = "nearby.offers"
_MOST_BYTES: Final = 64 * 1024 * 1024
# Of what changes without being announced: values that rules of offers look up.
_LIFETIMES: Final = Lifetimes(fresh_s=30.0, stale_s=270.0, away_s=300.0)
_OF_KEY: Final = 400  # bytes
_NOTHING: Final = Answer(NOTHING_HERE, 0.0)
_TRY_AGAIN: Final = 5_000_000  # microseconds until what is missing is looked for again

# The card and the typical purchase of each country.
Grounds: TypeAlias = tuple[tuple[str, int] | None, ...]

# Writes the best offers of a place as an answer has them, with the currency.
WriteOffers: TypeAlias = Callable[[Sequence[Shown], str], bytes]


class _Meant(NamedTuple):
    """The meaning of a place, as it was found in these regions with this card."""

    regions: tuple[str, ...]
    priced: Priced
    meaning: Meaning


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
        write: WriteOffers,
    ) -> None:
        self._qualifier = qualifier.quietly()
        self._index = index
        self._maps = maps
        self._clock = clock
        self._write = write
        self._purchases = Purchases()
        self._keys = KeysInUse(index)
        self._keys_seen = self._keys.changes
        self._meant: dict[str, _Meant] = {}
        self._equal: dict[Meaning, Meaning] = {}  # one object for all that are equal
        self._priced: dict[str, tuple[PublishedCard, object, Priced]] = {}
        route = Route[Meaning, Here](
            ROUTE,
            _LIFETIMES,
            _MOST_BYTES,
            size_of=lambda _, here: _OF_KEY + len(here.offers),
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

    def places_changed(self, ids: Iterable[str]) -> None:
        for each in ids:
            self._meant.pop(each, None)

    def meaning(self, place: Place, regions: tuple[str, ...]) -> Meaning | None:
        return next(self.meanings([(place, regions)]))

    def meanings(self, places: Iterable[tuple[Place, tuple[str, ...]]]) -> Iterator[Meaning | None]:
        """Of places with their regions; None where no rate card is in force in the country of the place."""
        priced: dict[str, Priced | None] = {}
        for place, regions in places:
            if (country := place.country) not in priced:
                priced[country] = self.priced(country)
            here = priced[country]
            yield None if here is None else self._meaning(place, regions, here)

    def _meaning(self, place: Place, regions: tuple[str, ...], priced: Priced) -> Meaning:
        if self._keys_seen != self._keys.changes:
            self._keys_seen = self._keys.changes
            self._meant.clear()
            self._equal.clear()
        meant = self._meant.get(place.id)
        if meant is not None and meant.regions is regions and meant.priced is priced:
            return meant.meaning
        meaning = self._keys.meaning(spot_of(place, regions), priced)
        meaning = self._equal.setdefault(meaning, meaning)
        self._meant[place.id] = _Meant(regions, priced, meaning)
        return meaning

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
        purchase = rounded_units(map_.typical_purchase, currency)
        priced = Priced(card.name, currency, purchase, frozenset(card.card.verticals))
        self._priced[country] = card, map_, priced
        return priced

    async def all_of_everybody(self, meanings: Iterable[Meaning | None]) -> list[Answer[Here]]:
        return [_NOTHING if each is None else await self.of_everybody(each) for each in meanings]

    async def of_everybody(self, meaning: Meaning) -> Answer[Here]:
        return await self._cache.get(meaning)

    async def _computed(self, meaning: Meaning) -> Here:
        at = self._clock.now()
        answer = await self._answered(self._qualifier, meaning, None)
        item = meaning.item()
        asked = self._index.ask(Asker(meaning.country, at), Question(item, item.line))
        groups = self._index.groups(asked)
        until = unchanged_until((each for group in groups for each in group.offers), asked)
        if answer.reading.is_degraded:
            until = min(until, asked.at + _TRY_AGAIN)
        return self._here(meaning, answer)._replace(until=until)

    async def for_member(self, qualifier: Qualifier, meaning: Meaning, member_id: str) -> Answer[Here]:
        """A member with points in another country is anybody here."""
        try:
            return Answer(self._here(meaning, await self._answered(qualifier, meaning, member_id)), 0.0)
        except OtherCountry:
            return await self.of_everybody(meaning)

    async def _answered(self, qualifier: Qualifier, meaning: Meaning, member_id: str | None) -> Offered:
        """A purchase is a basket by itself."""
        card = qualifier.card(meaning.country)
        return await qualifier.qualify(Ask(card, [meaning.item()], Scenario.ALL, member_id))

    def _here(self, meaning: Meaning, answer: Offered) -> Here:
        (of_item,) = answer.items
        shown = [] if of_item.best is None else [of_item.best, *of_item.others]
        card, tier = self._qualifier.card(meaning.country), answer.reading.tier or BASE_TIER
        earning = self._purchases.earning(of_item.item, card, tier)
        offers = self._write(best_of(shown), meaning.currency)
        earns = points_a_unit(earning, meaning.currency)
        return Here(offers, len(shown), earns, is_degraded=answer.reading.is_degraded)


class MembersHere:
    """What is on offer for members of the ledger, or of a sandbox."""

    def __init__(self, offers: OffersHere, qualifier: Qualifier) -> None:
        self._offers = offers
        self._qualifier = qualifier

    async def told(self, meanings: Sequence[Meaning | None], member_id: str) -> list[Answer[Here]]:
        """What is on offer at places with these meanings. Equal meanings are asked for once, and all together, so that
        what is slow is waited for once.
        """
        wanted = [each for each in dict.fromkeys(meanings) if each is not None]
        asked = (self._offers.for_member(self._qualifier, each, member_id) for each in wanted)
        found = dict(zip(wanted, await asyncio.gather(*asked), strict=True))
        return [_NOTHING if each is None else found[each] for each in meanings]
