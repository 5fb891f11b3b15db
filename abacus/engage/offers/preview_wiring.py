"""How previews of offers are put together: what is known of members, and what rules look up."""

from collections.abc import Callable
from typing import NamedTuple

from abacus.engage.downstreams.facts import AskService
from abacus.engage.downstreams.wiring import outside
from abacus.engage.offers.facts import Countable, offer_facts
from abacus.engage.offers.members import Members
from abacus.engage.offers.preview import OfferPreview
from abacus.platform.postgres import Pool
from abacus.platform.reading.caches import Caches
from abacus.platform.wiring import Wiring
from abacus.pricing.decide.book import CardBook
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.wiring import counters_in_use
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.wiring import present_counter_facts


class LookedUp(NamedTuple):
    """What rules of previews look up beside members: counters, and what services say."""

    counters: CounterFacts
    services: AskService


async def looked_up(wiring: Wiring, pool: Pool) -> LookedUp:
    definitions = counters_in_use(wiring, pool)
    counters = await present_counter_facts(wiring, pool, lambda: Countable(_by_name(definitions.value())))
    reached = await outside(wiring, pool, webhooks_at_once=0)
    return LookedUp(counters, reached.services.ask)


def offer_preview(
    wiring: Wiring, pool: Pool, cards: Callable[[], CardBook], standing: str, of: LookedUp
) -> OfferPreview:
    """For `standing` see `Members`."""
    members = Members(pool, standing=standing, clock=wiring.clock, caches=Caches(wiring.clock))
    wiring.at_the_end(members.close)
    facts = offer_facts(counters=of.counters, services=of.services)
    return OfferPreview(pool, cards, members=members, facts=facts)


def _by_name(catalog: Catalog) -> dict[str, Definition]:
    return {each.name: each for each in catalog.definitions}
