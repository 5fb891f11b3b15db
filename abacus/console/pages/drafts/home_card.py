"""On the first page: the person's saved drafts."""

from collections.abc import Sequence
from typing import Final

from abacus.console.drafts.store import DraftStore
from abacus.console.pages.drafts.draft_list import DraftRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.people.types.person import Role

_MOST: Final = 4


async def _newest(call: Call) -> Sequence[DraftRow] | None:
    mine = await call.rooms[DraftStore].of(call.actor.name)
    return [row_of(call, each) for each in mine[:_MOST]] or None


CARD: Final = HomeCard("drafts", "Your drafts", "home/drafts.html", _newest, {Role.COUNTRY_EDITOR: 2})
