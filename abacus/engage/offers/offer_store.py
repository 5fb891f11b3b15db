"""Offers in Postgres: a store of versions with states, in which all versions of a name have one number."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from abacus.core.errors import Unavailable
from abacus.documents.decide.states import Status
from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.engage.offers.decide.invited import OfferHead
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.kind import OFFERS
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

OfferRecord: TypeAlias = Stated[Offer]

_NUMBERS: Final = Statement("select name, number from offer_number where name = any(:names::text[])")
# Of the version in force, or else of the newest.
_HEADS: Final = Statement(f"""
select distinct on (name) name, country, document ->> 'audience' as audience from offer
where status <> '{Status.ENDED}' and ends_at > :now
order by name, status in ('{Status.APPROVED}', '{Status.PAUSED}') desc, version desc
""")


class OfferStore(StatedStore[Offer, OfferPublications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, OFFERS)

    async def numbers(self, names: Sequence[str]) -> dict[str, int]:
        """The numbers of these offers, without names that no offer has."""
        async with passing_failures():
            return {row["name"]: row["number"] for row in await self._pool.fetch(*_NUMBERS(names=list(names)))}

    async def heads(self, now: datetime) -> Mapping[str, OfferHead]:
        """The offers that are not over, by name."""
        async with passing_failures():
            rows = await self._pool.fetch(*_HEADS(now=now))
        return {row["name"]: OfferHead(row["country"], row["audience"]) for row in rows}


class OfferVersions:
    """The versions that this process has read."""

    def __init__(self, store: OfferStore) -> None:
        self._store = store
        self._known: dict[tuple[str, int], Offer] = {}

    async def of(self, name: str, version: int) -> Offer:
        """Raises `Unavailable`, also where there is no such version."""
        place = name, version
        if place not in self._known:
            history = await self._store.history(name)
            self._known |= {(name, each.document.version): each.document for each in history}
        if place not in self._known:
            raise Unavailable("offers", f"there is no {name}@{version}")
        return self._known[place]
