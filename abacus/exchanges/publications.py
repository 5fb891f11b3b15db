"""What is published at the moment, by which programmes are judged."""

from datetime import datetime

from abacus.documents.directory import read_moment
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.platform.postgres import Pool, passing_failures
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.segments.store import SegmentStore


async def exchange_publications(pool: Pool, now: datetime, *, to_private: bool) -> ExchangePublications:
    """Raises `Unavailable`."""
    published = await read_moment(pool, COUNTERS, DOWNSTREAMS)
    services = [each for each in published.of(DOWNSTREAMS) if each.service and not each.retired]
    async with passing_failures():
        partners = await pool.fetch("select partner_id from partner where disabled_at is null")
    return ExchangePublications(
        now=now,
        cards=CardBook(await CardStore(pool).all()).of_countries(now),
        partners={row["partner_id"] for row in partners},
        segments={segment.name for segment in await SegmentStore(pool).all() if not segment.dropped},
        counters={each.name: each for each in published.of(COUNTERS)},
        externals={each.name: each.service.answers for each in services if each.service},
        to_private=to_private,
    )
