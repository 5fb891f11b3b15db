"""What the offers at a place follow from: the values of the place that some offer, or the rate card, speaks of. Pure.

Places that differ in nothing else have the same offers. The item of a meaning is a purchase there: offers fit it as
they fit an item that says all about the place.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.keys import Key, keys_of, keys_of_scope, keys_of_values
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.spot import Spot, purchase_at

_NOTHING: Final = ""  # which no offer names


class Meaning(NamedTuple):
    """`card` is the name of the rate card in force, and `purchase` what is typically paid, in the smallest units.
    `number` follows from all the others: it is the hash, because each request looks for twenty meanings.
    """

    country: str
    card: str
    currency: str
    purchase: int
    place: str
    merchant: str
    brand: str
    categories: tuple[str, ...]
    regions: tuple[str, ...]
    number: int

    def __hash__(self) -> int:
        return self.number

    def item(self) -> Item:
        spot = Spot(self.place, self.country, self.merchant, self.brand, self.categories, self.regions)
        return purchase_at(spot, self.purchase, self.currency)

    def tags(self) -> Sequence[str]:
        """What a change of an offer touches that is here."""
        return [_tag_of(self.country, key) for key in keys_of(self.item())]


class Priced(NamedTuple):
    """What is paid in a country, and for what its rate card gives points."""

    card: str
    currency: str
    purchase: int
    verticals: Collection[str]


class KeysInUse:
    """The keys that offers of each country speak of, be it to be found by them or to except them. It hears the index.

    `changes` grows whenever a key comes into use, or none speaks of it any more.
    """

    def __init__(self, index: OfferIndex) -> None:
        self.changes = 0
        self._used: dict[str, Counter[Key]] = {}
        for armed in index:
            self.came(armed)
        index.hear(self)

    def came(self, armed: Armed) -> None:
        used = self._used.setdefault(armed.offer.country, Counter())
        for key in _spoken_of(armed):
            used[key] += 1
            self.changes += used[key] == 1

    def left(self, armed: Armed) -> None:
        used = self._used[armed.offer.country]
        for key in _spoken_of(armed):
            used[key] -= 1
            if not used[key]:
                del used[key]
                self.changes += 1

    def spent(self, armed: Armed) -> None:
        """The same keys are in use."""

    def meaning(self, spot: Spot, priced: Priced) -> Meaning:
        """Of a place in its country."""
        used: Collection[Key] = self._used.get(spot.country, ())
        verticals = priced.verticals
        said = (
            spot.country,
            priced.card,
            priced.currency,
            priced.purchase,
            spot.place if ("place", spot.place) in used else _NOTHING,
            spot.merchant if ("merchant", spot.merchant) in used else _NOTHING,
            spot.brand if ("brand", spot.brand) in used else _NOTHING,
            tuple([each for each in spot.categories if ("category", each) in used or each in verticals]),
            tuple([each for each in spot.regions if ("region", each) in used]),
        )
        return Meaning(*said, crc32(repr(said).encode()))


def _tag_of(country: str, key: Key) -> str:
    kind, value = key
    return f"{country}:{kind}:{value}"


def tags_of(armed: Armed) -> Sequence[str]:
    """All that the offer is found by."""
    return [_tag_of(armed.offer.country, key) for key in armed.places()]


def _spoken_of(armed: Armed) -> Iterator[Key]:
    scope = armed.offer.scope
    yield from keys_of_scope(scope)
    if armed.is_narrowed:
        yield from keys_of_values(scope.anywhere().values)
    yield from keys_of_values(scope.excepted)
