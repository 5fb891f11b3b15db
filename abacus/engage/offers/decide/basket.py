"""What is asked about: items, in the smallest units of their currency. Pure values."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.signals.events.types import Value

MOST_ITEMS: Final = 50
_NO_VARIABLES: Final[Mapping[str, Value]] = MappingProxyType({})


class Item(NamedTuple):
    """A line of a basket. `price` is that of one piece; `categories` go from the widest to the narrowest. `place` is
    where it is bought, if that was told, and `regions` what the place lies in.
    """

    id: str
    product: str
    merchant: str
    brand: str
    categories: tuple[str, ...]
    price: int
    currency: str
    quantity: int = 1
    variables: Mapping[str, Value] = _NO_VARIABLES
    place: str | None = None
    regions: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self.price * self.quantity


def sum_of(items: Sequence[Item]) -> int:
    return sum(item.line for item in items)
