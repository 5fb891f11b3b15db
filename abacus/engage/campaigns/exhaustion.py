"""Ends campaigns that have come to their limits, for all processes at once."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.sources import campaign_source
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed

_WHY: Final = "its limit is reached"

log = structlog.get_logger(__name__)


class CampaignExhaustion:
    """Marks campaigns as exhausted, and writes that into the log of deeds."""

    def __init__(self, store: CampaignStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def mark(self, campaigns: Sequence[Campaign]) -> None:
        """A campaign that is not in force any more stays as it is. Raises `Unavailable`."""
        for campaign in campaigns:
            now, source = self._clock.now(), campaign_source(campaign.name)
            entry = entry_of(source, Deed.EDIT_CAMPAIGNS, source, now, country=campaign.country, did="exhausted")
            also = noted(entry)
            with suppress(Refused):
                await self._store.move(campaign.name, campaign.version, Act.EXHAUST, Change(source, now, _WHY), also)
                log.info("campaign exhausted", campaign=campaign.label)
