"""The offers in force, as a command asks for them: with all that they ask of members, and without a running worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from abacus.cli.offers.tried import counter_facts, rule_of
from abacus.cli.terminal.command_actor import CommandActor
from abacus.core.clock import Clock
from abacus.engage.downstreams.services import Services
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.directory import OfferDirectory
from abacus.engage.offers.facts import offer_facts
from abacus.engage.offers.members import Members
from abacus.engage.offers.qualifier import Qualifier
from abacus.engage.offers.spent import SpentOffers
from abacus.engage.offers.spots import spots_stored
from abacus.ledger.store.read import STANDING
from abacus.platform.reading.caches import Caches
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.segments.sets import segment_sets


@asynccontextmanager
async def offers_in_force(
    at: CommandActor, clock: Clock, asking: Services, beside: OfferPublications, trial: Offer | None = None
) -> AsyncIterator[Qualifier]:
    """With the trial in the place of its other versions, where there is one."""
    pool, rule = at.pool, None if trial is None else rule_of(trial, beside)
    in_use = {side.name for side in looked_up_sides(rule) if side.place == SEGMENT} if rule is not None else set[str]()
    directory = OfferDirectory(pool, clock, in_use.update)
    await directory.refresh()
    index = directory.value()
    if trial is not None:
        number = trial.number or 1 + max((armed.number for armed in index), default=0)
        index.put(replace(trial, number=number), rule)
    await SpentOffers(pool, lambda: index, clock).refresh()
    segments = segment_sets(pool)
    segments.use(in_use)
    await segments.refresh()
    book = CardBook(await CardStore(pool).all())
    members = Members(pool, standing=STANDING, clock=clock, caches=Caches(clock, settings={}))
    try:
        yield Qualifier(
            lambda: index,
            lambda: book,
            members=members,
            segments=segments.value,
            facts=offer_facts(counters=counter_facts(pool, beside), services=asking.ask),
            clock=clock,
            spots=spots_stored(pool),
        )
    finally:
        await members.close()
