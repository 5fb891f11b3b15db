"""Partners by a part of their id or of their name."""

from collections.abc import Iterable
from typing import Final

from abacus.console.pages.search.finder import Found, name_finder
from abacus.console.web.calls import Call
from abacus.intake.partners.store import PartnerStore

_WITHIN_S: Final = 0.5


async def _partners(call: Call) -> Iterable[Found]:
    every = [each.partner for each in await call.rooms[PartnerStore].all(within_s=_WITHIN_S)]
    return [Found("partner", each.partner_id, each.name, each.partner_id) for each in every]


PARTNERS: Final = name_finder("Partners", _partners, everywhere=True)
