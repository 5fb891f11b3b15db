"""How previews of offers are put together: what is known of members, and what rules look up."""

import time
from collections.abc import Callable

from abacus.engage.downstreams.wiring import outside
from abacus.engage.offers.facts import Countable, offer_facts
from abacus.engage.offers.members import Members
from abacus.engage.offers.preview import OfferPreview
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.pricing.decide.book import CardBook
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.wiring import counters_in_use
from abacus.signals.facts.wiring import present_counter_facts


async def offer_preview(wiring: Wiring, pool: Pool, cards: Callable[[], CardBook], standing: str) -> OfferPreview:
    """For `standing` see `Members`."""
    members = Members(pool, standing=standing, clock=wiring.clock, monotonic=time.monotonic)
    wiring.at_the_end(members.close)
    definitions = counters_in_use(wiring, pool)
    counters = await present_counter_facts(wiring, pool, lambda: Countable(_by_name(definitions.value())))
    reached = await outside(wiring, pool, webhooks_at_once=0)
    facts = offer_facts(counters=counters, services=reached.services.ask)
    return OfferPreview(pool, cards, members=members, facts=facts)


def _by_name(catalog: Catalog) -> dict[str, Definition]:
    return {each.name: each for each in catalog.definitions}
