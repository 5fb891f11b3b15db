"""What the pages of campaigns say of their own."""

from collections.abc import Sequence
from typing import Final

from abacus.console.decide.bars import OVERALL, Counted, bars_of
from abacus.console.pages.stated.stated_pages import BarsByName, StatedPages
from abacus.console.web.calls import Call
from abacus.engage.campaigns.decide.campaign import LIMIT_WORDS, Campaign
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.limits.types import NOTHING


async def used_bars(call: Call, campaigns: Sequence[Campaign]) -> BarsByName:
    """The bars of campaigns over their whole lives, by name."""
    used = await call.rooms[CampaignDesk].used([each.name for each in campaigns])
    return {
        each.name: bars_of(each.limits, LIMIT_WORDS, Counted({OVERALL: used.get(each.name, NOTHING)}))
        for each in campaigns
    }


PAGES: Final = StatedPages(
    kind=CAMPAIGNS,
    desk=CampaignDesk,
    title="Campaigns",
    about="If this happens to a member, and that holds, then it is done, within limits.",
    used=used_bars,
    links=[("Calendar", "/campaigns-calendar")],
)
