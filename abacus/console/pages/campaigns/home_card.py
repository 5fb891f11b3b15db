"""On the first page: campaigns whose budget is nearly used, or that end soon."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Final

from abacus.console.pages.campaigns.campaign_pages import PAGES, used_bars
from abacus.console.pages.stated.stated_row import StatedRow
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role

_LOOKED_AT: Final = 20
_MOST: Final = 4
_SOON: Final = timedelta(days=7)
_NEARLY: Final = Decimal("0.8")


async def _near(call: Call) -> Sequence[StatedRow] | None:
    """Of limits some is handed out that is not used yet, so more are looked at than are shown."""
    desk, soon = call.rooms[CampaignDesk], call.now + _SOON
    found = await desk.near_their_end(soon, _NEARLY, countries=call.countries(Deed.SEE), limit=_LOOKED_AT)
    used = await used_bars(call, [each.document for each in found])
    rows = [PAGES.row(call, each, used[each.document.name]) for each in found]
    near = [each for each in rows if each.ends_at < soon or any(bar.share >= _NEARLY for bar in each.used)]
    return near[:_MOST] or None


CARD: Final = HomeCard(
    "campaigns",
    "Campaigns near their budget or end",
    "home/campaigns.html",
    _near,
    {Role.COUNTRY_EDITOR: 1, Role.APPROVER: 3, Role.FINANCE: 4},
)
