"""What is published at the moment, by which rewards are judged."""

from contextlib import suppress
from datetime import datetime

from abacus.core.errors import SetAside, Unavailable
from abacus.documents.directory import read_moment
from abacus.engage.downstreams.decide.downstream import DownstreamKind
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.rewards.decide.other_program import programs_of
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.pools import free_codes
from abacus.platform.postgres import Pool, passing_failures
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.store.cards import CardStore
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.segments.store import SegmentStore


async def reward_publications(pool: Pool, now: datetime) -> RewardPublications:
    """Raises `Unavailable`."""
    published = await read_moment(pool, COUNTERS, DOWNSTREAMS)
    downstreams = published.of(DOWNSTREAMS)
    book, cards = CardBook(await CardStore(pool).all()), dict[str, PublishedCard]()
    for country in book.countries():
        with suppress(SetAside, Unavailable):
            cards[country] = book.in_force(country, now)
    async with passing_failures():
        partners = await pool.fetch("select partner_id from partner where disabled_at is null")
    return RewardPublications(
        now=now,
        cards=cards,
        segments={segment.name for segment in await SegmentStore(pool).all() if not segment.dropped},
        webhooks={each.name for each in downstreams if each.kind is DownstreamKind.WEBHOOK and not each.retired},
        partners={row["partner_id"] for row in partners},
        pools=await free_codes(pool),
        counters={each.name: each for each in published.of(COUNTERS)},
        externals={each.name: each.service.answers for each in downstreams if each.service and not each.retired},
        offers=await OfferStore(pool).heads(now),
        programs=programs_of(book, now),
    )
