"""On the first page: what members hold and what it costs by the last count, and the month that is to be closed."""

from dataclasses import dataclass
from typing import Final

from abacus.console.decide.reports import REPORTS
from abacus.console.pages.operations.errands import Done, newest
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role
from abacus.programs.expiry.decide.month import Month


@dataclass(frozen=True)
class Held:
    """The last count, if there is one. `month` is the last that is over."""

    done: Done | None
    month: str


async def _held(call: Call) -> Held:
    done = await newest(call, REPORTS["liability"].task, "")
    return Held(done if done is not None and done.document else None, str(Month.of(call.now.date()).before))


CARD: Final = HomeCard(
    "liability",
    "What members hold",
    "home/liability.html",
    _held,
    {Role.FINANCE: 1, Role.ADMIN: 5},
    deed=Deed.CLOSE_BOOKS,
    everywhere=True,
)
