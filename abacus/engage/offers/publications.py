"""What is published at the moment, by which offers are judged."""

from datetime import datetime
from functools import partial

from abacus.documents.directory import Moment, read_moment
from abacus.engage.categories.kind import CATEGORIES
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.offers.codes.pools import loaded_pools
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.spots import named_spots
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.rules.decide.names import AnyName
from abacus.signals.segments.store import SegmentStore


async def offer_publications(pool: Pool, now: datetime) -> OfferPublications:
    """Raises `Unavailable`."""
    published = await read_moment(pool, COUNTERS, DOWNSTREAMS, CATEGORIES)
    downstreams = published.of(DOWNSTREAMS)
    return OfferPublications(
        now=now,
        cards=CardBook(await CardStore(pool).all()).of_countries(now),
        categories={each.country: each for each in published.of(CATEGORIES)},
        counters={each.name: each for each in published.of(COUNTERS)},
        segments={segment.name for segment in await SegmentStore(pool).all() if not segment.dropped},
        externals={each.name: each.service.answers for each in downstreams if each.service and not each.retired},
        pools=await loaded_pools(pool),
        seek=partial(named_spots, pool),
    )


def rule_publications(beside: Moment, now: datetime) -> OfferPublications:
    """What the rules of offers in force are judged by: a segment that is gone has no members."""
    return OfferPublications(
        now,
        counters={each.name: each for each in beside.of(COUNTERS)},
        segments=AnyName(),
        externals={each.name: each.service.answers for each in beside.of(DOWNSTREAMS) if each.service},
    )
