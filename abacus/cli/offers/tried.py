"""What trials of offers stand on: an offer of a file or a published version, its rule, and what rules look up."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from abacus.cli.documents.chosen import chosen as chosen_document
from abacus.cli.documents.chosen import is_file
from abacus.cli.terminal.shell import settings
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.vocabulary import of_offer
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.facts import Countable
from abacus.engage.offers.offer_store import OfferStore
from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.reading.types import Counted, Lookup
from abacus.signals.counters.wiring import counts_now
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.types import Rule


async def chosen(which: str, desk: OfferDesk, pool: Pool, beside: OfferPublications) -> Offer:
    """The offer of a file, with the number that its name has, or a published version. Raises `Refused` and
    `DocumentFaults`.
    """
    offer = await chosen_document(which, desk, beside)
    if not is_file(which):
        return offer
    return replace(offer, number=(await OfferStore(pool).numbers([offer.name])).get(offer.name, 0))


class Published(Protocol):
    """What rules may ask for: what was published at a moment."""

    @property
    def now(self) -> datetime: ...
    @property
    def counters(self) -> Mapping[str, Definition]: ...


def rule_of(offer: Offer, beside: OfferPublications) -> Rule | None:
    """Raises `DocumentFaults` where it does not fit what is published."""
    return None if offer.when is None else parse_rule(offer.when, of_offer(offer.when, beside))


def counter_facts(pool: Pool, beside: Published) -> CounterFacts:
    """Counters as they are now."""

    async def counts(lookups: Sequence[Lookup]) -> Sequence[Counted]:
        return await counts_now(lookups, pool, settings(), beside.now)

    return CounterFacts(pool, lambda: Countable(beside.counters), counts, events_topic=settings().events_topic)
