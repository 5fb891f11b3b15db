"""On the first page: what members hold and what it costs, by the last count."""

from typing import Final

from abacus.console.pages.operations.errands import Done, newest
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role


async def _liability(call: Call) -> Done | str:
    done = await newest(call, "report-liability", "")
    return done if done is not None and done.document else "never"


CARD: Final = HomeCard(
    "liability",
    "What members hold",
    "home/liability.html",
    _liability,
    {Role.FINANCE: 1, Role.ADMIN: 5},
    deed=Deed.CLOSE_BOOKS,
    everywhere=True,
)
