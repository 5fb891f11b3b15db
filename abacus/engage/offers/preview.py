"""What a member would get for an item, and why not: for people, who look at some offers now and then. The offers are
read for each look, be they in force or not, and judged as for a caller who asks.
"""

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
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.refusal import Refusal
from abacus.engage.offers.decide.vocabulary import of_offer
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
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.names import AnyName
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.rules.decide.types import Rule
from abacus.signals.segments.sets import segment_sets

MOST: Final = 2_000  # offers of one look: each takes a tenth of a millisecond to read

# Offers under one of the item's values, and of offers for places those for the place where it is bought, if that was
# told; what an offer excepts is looked at when it is judged.
_FOR_ITEM: Final = Statements(OFFERS.table).where("""
(d.name, d.version) in (
    select name, version from offer
    where status = 'approved' and ends_at > :now and country = :country and (
        document -> 'scope' ? 'everything' or document -> 'scope' -> 'products' ? :product
        or document -> 'scope' -> 'merchants' ? :merchant or document -> 'scope' -> 'brands' ? :brand
        or document -> 'scope' -> 'categories' ?| :categories::text[]
    ) and (
        :place::text is null or not document -> 'scope' ?| '{places,regions}'
        or document -> 'scope' -> 'places' ? :place or document -> 'scope' -> 'regions' ?| :regions::text[]
    )
    order by name limit :most
)
""")


class Foreseen(NamedTuple):
    """The offers that a member would get for an item, the best first, and what keeps the others from it."""

    fits: Sequence[Shown]
    refused: Sequence[Refusal]
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

    async def for_item(self, country: str, item: Item, at: datetime) -> list[Offer]:
        """The offers in force at that moment that may be for the item; one more than `MOST` where there are more."""
        asked = _FOR_ITEM(
            known=[],
            now=at,
            country=country,
            product=item.product,
            merchant=item.merchant,
            brand=item.brand,
            categories=list(item.categories),
            place=item.place,
            regions=list(item.regions),
            most=MOST + 1,
        )
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            return [each.document for each in await self._reader.found(connection, asked)]

    async def look(self, offers: Sequence[Offer], ask: Ask, at: datetime) -> Foreseen:
        """As if these offers were in force at that moment, and no others. Raises `OtherCountry` as well."""
        around = replace(await offer_publications(self._pool, at), segments=AnyName())
        numbers = await OfferStore(self._pool).numbers([each.name for each in offers])
        index, misfits, segments = OfferIndex(), list[Refusal](), set[str]()
        for offer in offers:
            numbered = replace(offer, number=numbers.get(offer.name, offer.number))
            try:
                rule = _rule(numbered, around)
            except DocumentFaults as error:
                misfits.append(Refusal(offer, Reason.RULE, f"a rule that fits what is published: {error}"))
                continue
            index.put(numbered, rule)
            segments |= {side.name for side in looked_up_sides(rule) if side.place == SEGMENT} if rule else set()
        leave_out(await read_marks(self._pool, at), index, at)
        qualifier = await self._qualifier(index, segments, at)
        (answer,) = (await qualifier.qualify(ask._replace(scenario=Scenario.ALL))).items
        fits = [answer.best, *answer.others] if answer.best is not None else []
        there = {each.offer.name for each in fits}
        others = [each.name for each in offers if each.name not in there and index.named(each.name) is not None]
        verdicts = await qualifier.validate(ask, others)
        refused = [each.refused for each in verdicts.offers if each.refused is not None and not each.is_code]
        return Foreseen(fits, [*refused, *misfits], verdicts.reading)

    async def _qualifier(self, index: OfferIndex, segments: set[str], at: datetime) -> Qualifier:
        sets = segment_sets(self._pool)
        sets.use(segments)
        await sets.refresh()
        return Qualifier(
            lambda: index, self._cards, members=self._members, segments=sets.value, facts=self._facts, clock=_At(at)
        )


def _rule(offer: Offer, around: OfferPublications) -> Rule | None:
    """Raises `DocumentFaults`."""
    return None if offer.when is None else parse_rule(offer.when, of_offer(offer.when, around))
