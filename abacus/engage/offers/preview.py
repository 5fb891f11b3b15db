"""What a member would get for an item, and why not: for people, who look at some offers now and then. The offers are
read for each look, be they in force or not, and judged as for a caller who asks.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.fields import DocumentFaults
from abacus.documents.statements import Statements
from abacus.documents.store import Reader
from abacus.engage.offers.decide.ask import Ask, Reading, Scenario, Shown
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.refusal import Refusal
from abacus.engage.offers.decide.vocabulary import compiled
from abacus.engage.offers.facts import OfferSubject
from abacus.engage.offers.kind import OFFERS
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.offers.publications import offer_publications
from abacus.engage.offers.qualifier import MemberReader, Qualifier
from abacus.engage.offers.spent import leave_out, read_marks
from abacus.platform.postgres import Pool, passing_failures
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.names import AnyName
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.segments.sets import segment_sets

MOST: Final = 2_000  # offers of one look: each takes a tenth of a millisecond to read

# Offers under one of the items' values, and of offers for places those for the places where they are bought, if these
# were told; what an offer excepts is looked at when it is judged.
_FOR_ITEMS: Final = Statements(OFFERS.table).where("""
(d.name, d.version) in (
    select name, version from offer
    where status = 'approved' and ends_at > :now and country = :country and (
        document -> 'scope' ? 'everything' or document -> 'scope' -> 'products' ?| :products::text[]
        or document -> 'scope' -> 'merchants' ?| :merchants::text[]
        or document -> 'scope' -> 'brands' ?| :brands::text[]
        or document -> 'scope' -> 'categories' ?| :categories::text[]
    ) and (
        cardinality(:places::text[]) = 0 or not document -> 'scope' ?| '{places,regions}'
        or document -> 'scope' -> 'places' ?| :places::text[] or document -> 'scope' -> 'regions' ?| :regions::text[]
    )
    order by name limit :most
)
""")


class Foreseen(NamedTuple):
    """The offers that a member would get for an item, the best first, and what keeps the others from it."""

    fits: Sequence[Shown]
    refused: Sequence[Refusal]
    reading: Reading


class Fitting(NamedTuple):
    """The offers that a member would get for an item, the best first."""

    fits: Sequence[Shown]
    reading: Reading


class _At(NamedTuple):
    """A clock that stands at the moment that is looked at."""

    at: datetime

    def now(self) -> datetime:
        return self.at


class OfferPreview:
    """Its methods raise `Unavailable`."""

    def __init__(
        self,
        pool: Pool,
        cards: Callable[[], CardBook],
        *,
        members: MemberReader,
        facts: FactRegistry[OfferSubject],
    ) -> None:
        self._pool = pool
        self._cards = cards
        self._members = members
        self._facts = facts
        self._reader = Reader(OFFERS)

    async def for_items(self, country: str, items: Sequence[Item], at: datetime) -> list[Offer]:
        """The offers in force at that moment that may be for one of the items; one more than `MOST` where there are
        more.
        """
        asked = _FOR_ITEMS(
            known=[],
            now=at,
            country=country,
            products=[each.product for each in items],
            merchants=[each.merchant for each in items],
            brands=[each.brand for each in items],
            categories=[name for each in items for name in each.categories],
            places=[each.place for each in items if each.place is not None],
            regions=[id_ for each in items for id_ in each.regions],
            most=MOST + 1,
        )
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return [each.document for each in await self._reader.found(connection, asked)]

    async def look(self, offers: Sequence[Offer], ask: Ask, at: datetime) -> Foreseen:
        """As if these offers were in force at that moment, and no others. Raises `OtherCountry` as well."""
        index, misfits, qualifier = await self._begun(offers, at)
        fits, _ = await _fitting(qualifier, ask)
        there = {each.offer.name for each in fits}
        others = [each.name for each in offers if each.name not in there and index.named(each.name) is not None]
        verdicts = await qualifier.validate(ask, others)
        refused = [each.refused for each in verdicts.offers if each.refused is not None and not each.is_code]
        return Foreseen(fits, [*refused, *misfits], verdicts.reading)

    async def fitting(self, offers: Sequence[Offer], asks: Sequence[Ask], at: datetime) -> Sequence[Fitting]:
        """The same of several purchases, each of which is a basket by itself, without what keeps offers from them."""
        _, _, qualifier = await self._begun(offers, at)
        return await asyncio.gather(*(_fitting(qualifier, each) for each in asks))

    async def _begun(self, offers: Sequence[Offer], at: datetime) -> tuple[OfferIndex, Sequence[Refusal], Qualifier]:
        """These offers, the misfits among them, and what answers about the others."""
        around = replace(await offer_publications(self._pool, at), segments=AnyName())
        numbers = await OfferStore(self._pool).numbers([each.name for each in offers])
        index, misfits, segments = OfferIndex(), list[Refusal](), set[str]()
        for offer in offers:
            numbered = replace(offer, number=numbers.get(offer.name, offer.number))
            try:
                rule = compiled(numbered.when, around)
            except DocumentFaults as error:
                misfits.append(Refusal(offer, Reason.RULE, f"a rule that fits what is published: {error}"))
                continue
            index.put(numbered, rule)
            segments |= {side.name for side in looked_up_sides(rule) if side.place == SEGMENT} if rule else set()
        leave_out(await read_marks(self._pool, at), index, at)
        return index, misfits, await self._qualifier(index, segments, at)

    async def _qualifier(self, index: OfferIndex, segments: set[str], at: datetime) -> Qualifier:
        sets = segment_sets(self._pool)
        sets.use(segments)
        await sets.refresh()
        return Qualifier(
            lambda: index, self._cards, members=self._members, segments=sets.value, facts=self._facts, clock=_At(at)
        )


async def _fitting(qualifier: Qualifier, ask: Ask) -> Fitting:
    answer = await qualifier.qualify(ask._replace(scenario=Scenario.ALL))
    (of_item,) = answer.items
    return Fitting([of_item.best, *of_item.others] if of_item.best is not None else [], answer.reading)
