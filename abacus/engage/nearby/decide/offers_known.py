"""Which offers a process knows of, in a few bytes: two processes that know the same say the same. Pure."""

from hashlib import blake2b
from typing import Final

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.offer_index import OfferIndex

_BYTES: Final = 16
_ALL: Final = 1 << 8 * _BYTES


class OffersKnown:
    """A sum for each country over its offers in force, each with its version and whether its budget is gone. It hears
    the index.
    """

    def __init__(self, index: OfferIndex) -> None:
        self._index = index
        self._sums: dict[str, int] = {}
        for armed in index:
            self.came(armed)
        index.hear(self)

    def of(self, country: str) -> int:
        """Another number wherever the offers are others, in whichever order they came."""
        return self._sums.get(country, 0)

    def came(self, armed: Armed) -> None:
        self._add(armed, _number_of(armed, self._is_spent(armed)))

    def left(self, armed: Armed) -> None:
        self._add(armed, -_number_of(armed, self._is_spent(armed)))

    def spent(self, armed: Armed) -> None:
        is_spent = self._is_spent(armed)
        self._add(armed, _number_of(armed, is_spent) - _number_of(armed, not is_spent))

    def _is_spent(self, armed: Armed) -> bool:
        return armed.number in self._index.spent

    def _add(self, armed: Armed, number: int) -> None:
        country = armed.offer.country
        self._sums[country] = (self._sums.get(country, 0) + number) % _ALL


def _number_of(armed: Armed, is_spent: bool) -> int:  # noqa: FBT001  # a part of what is known
    offer = armed.offer
    told = f"{offer.name}@{offer.version} {is_spent}"
    return int.from_bytes(blake2b(told.encode(), digest_size=_BYTES).digest())
