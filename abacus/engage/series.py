"""The sums of the rooms that engage members, as series."""

from abacus.engage.campaigns import day_sums as of_campaigns
from abacus.engage.journeys import day_sums as of_journeys
from abacus.platform.postgres import Pool
from abacus.signals.counters.reading.room_sums import HouseSums


def house_sums(pool: Pool) -> HouseSums:
    """It takes one connection of the pool at a time."""
    return HouseSums(
        {of_campaigns.ROOM: of_campaigns.CampaignDays(pool), of_journeys.ROOM: of_journeys.JourneyDays(pool)}
    )
