"""On the first page: campaigns whose budget is nearly used, or that end soon."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from abacus.console.pages.campaigns.campaign_list import CampaignRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.documents.decide.states import State
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.limits.types import NOTHING
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role

_LOOKED_AT: Final = 200
_MOST: Final = 4
_SOON: Final = timedelta(days=7)
_NEARLY: Final = 0.8


async def _near(call: Call) -> Sequence[CampaignRow] | None:
    desk = call.rooms[CampaignDesk]
    running = await desk.page(countries=call.countries(Deed.SEE), state=State.RUNNING, after=None, limit=_LOOKED_AT)
    used = await desk.used([each.document.name for each in running])
    rows = [row_of(each, call.now, used.get(each.document.name, NOTHING)) for each in running]
    near = [each for each in rows if each.ends_at - call.now < _SOON or any(bar.share >= _NEARLY for bar in each.used)]
    return sorted(near, key=lambda each: each.ends_at)[:_MOST] or None


CARD: Final = HomeCard(
    "campaigns",
    "Campaigns near their budget or end",
    "home/campaigns.html",
    _near,
    {Role.COUNTRY_EDITOR: 1, Role.APPROVER: 3, Role.FINANCE: 4},
)
