"""What is known today of points that a campaign gave, to check them by."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from abacus.core.errors import Refused
from abacus.engage.campaigns.campaign_store import CampaignRecord, CampaignStore
from abacus.engage.campaigns.decide.campaign import LABELS
from abacus.engage.campaigns.decide.checks import Given
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.publications import publications
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.explanation.types import Campaigned
from abacus.signals.events.decide.source import Source
from abacus.signals.rules.decide.names import AnyName


async def given_of(
    transfer: Transfer, why: Campaigned, *, pool: Pool, built_in: Iterable[Source], book: CardBook, now: datetime
) -> Given:
    """Raises `Unavailable`."""
    record = await _record(why.campaign, CampaignStore(pool))
    return Given(
        transfer,
        why,
        campaign=record.document if record is not None else None,
        approved_by=record.approved_by if record is not None else None,
        card=_card(why.card, book),
        around=_whatever_was_there(await publications(pool, built_in, now)),
    )


async def _record(label: str, store: CampaignStore) -> CampaignRecord | None:
    try:
        name, version = LABELS.split(label)
    except Refused:
        return None
    history = await store.history(name)
    return next((each for each in history if each.document.version == version), None)


def _card(name: str, book: CardBook) -> PublishedCard | None:
    with suppress(Refused):
        return book.by_name(name)
    return None


def _whatever_was_there(around: Publications) -> Publications:
    """Segments that were dropped and counters that were retired since were there when the points were given."""
    counters = {name: replace(each, retired_at=None) for name, each in around.counters.items()}
    return replace(around, segments=AnyName(), regions=AnyName(), counters=counters)
