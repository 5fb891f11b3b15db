"""Where an item is bought: a place of a merchant, and the regions that it lies in. Pure."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.offers.decide.basket import Item
from abacus.signals.places.decide.place import Place


class Spot(NamedTuple):
    """A place as offers know it; an empty text stands for what the place does not say."""

    place: str
    country: str
    merchant: str
    brand: str
    categories: tuple[str, ...]
    regions: tuple[str, ...]


# Finds places by their ids, as far as they are there. Raises `Unavailable`.
FindSpots: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, Spot]]]
NO_SPOTS: Final[Mapping[str, Spot]] = {}
_NOTHING: Final = ""  # which no offer names


def spot_of(place: Place, regions: tuple[str, ...]) -> Spot:
    """The place as offers know it."""
    return Spot(place.id, place.country, place.merchant, place.brand or _NOTHING, place.categories, regions)


def purchase_at(spot: Spot, price: int, currency: str) -> Item:
    """Of any product that the place sells."""
    bought = (_NOTHING, _NOTHING, spot.merchant, spot.brand, spot.categories, price, currency)
    return Item(*bought, place=spot.place, regions=spot.regions)


async def nowhere(_: Collection[str]) -> Mapping[str, Spot]:
    """Where no places are known."""
    return NO_SPOTS
