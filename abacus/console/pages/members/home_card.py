"""On the first page: a way to a member, for people who help members."""

from typing import Final

from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role


async def _find(_: Call) -> str:
    return "/members"


CARD: Final = HomeCard("member", "Find a member", "home/member.html", _find, {Role.SUPPORT: 0}, deed=Deed.ADJUST)
