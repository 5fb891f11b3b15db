"""Offers in Postgres: a store of versions with states, in which all versions of a name have one number."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.kind import OFFERS
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

OfferRecord: TypeAlias = Stated[Offer]

_NUMBERS: Final = Statement("select name, number from offer_number where name = any(:names::text[])")


class OfferStore(StatedStore[Offer, OfferPublications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, OFFERS)

    async def numbers(self, names: Sequence[str]) -> dict[str, int]:
        """The numbers of these offers, without names that no offer has."""
        async with passing_failures():
            return {row["name"]: row["number"] for row in await self._pool.fetch(*_NUMBERS(names=list(names)))}
