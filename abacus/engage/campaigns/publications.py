"""What is published at the moment, by which campaigns are judged."""

from collections.abc import Iterable
from datetime import datetime

from abacus.documents.directory import read_moment
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.downstreams.decide.downstream import DownstreamKind
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.notify.kind import CONTACT_POLICIES, holdouts_of
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.rewards.reward_store import RewardStore
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCES, by_name
from abacus.signals.places.region_ids import region_ids_now
from abacus.signals.segments.store import SegmentStore


async def publications(pool: Pool, built_in: Iterable[Source], now: datetime) -> Publications:
    """Raises `Unavailable`."""
    published = await read_moment(pool, COUNTERS, SOURCES, DOWNSTREAMS, CONTACT_POLICIES)
    downstreams = published.of(DOWNSTREAMS)
    return Publications(
        sources=by_name(built_in, published.of(SOURCES)),
        now=now,
        cards=CardBook(await CardStore(pool).all()).of_countries(now),
        counters={each.name: each for each in published.of(COUNTERS)},
        webhooks={each.name for each in downstreams if each.kind is DownstreamKind.WEBHOOK and not each.retired},
        externals={each.name: each.service.answers for each in downstreams if each.service and not each.retired},
        offers=await OfferStore(pool).heads(now),
        rewards=await RewardStore(pool).heads(now),
        holdouts=holdouts_of(published),
        regions=await region_ids_now(pool),
        segments={segment.name for segment in await SegmentStore(pool).all() if not segment.dropped},
    )
