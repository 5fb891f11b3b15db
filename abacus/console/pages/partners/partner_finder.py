"""Partners by the beginning of their id, or a part of their name."""

from collections.abc import Sequence
from typing import Final

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call
from abacus.intake.partners.store import PartnerStore

_WITHIN_S: Final = 0.5


async def _partners(call: Call, text: str, most: int) -> Sequence[Found]:
    wanted = text.casefold()
    return [
        Found("partner", each.partner_id, each.name, each.partner_id, exact=each.partner_id == wanted)
        for each in (one.partner for one in await call.rooms[PartnerStore].all(within_s=_WITHIN_S))
        if each.partner_id.startswith(wanted) or wanted in each.name.casefold()
    ][:most]


PARTNERS: Final = Finder("Partners", _partners, everywhere=True)
