"""Where an item is bought: a place of a merchant, and the regions that it lies in. Pure values."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, NamedTuple, TypeAlias


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


async def nowhere(_: Collection[str]) -> Mapping[str, Spot]:
    """Where no places are known."""
    return NO_SPOTS
