"""On the first page: what waits for the person's decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, Status
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role

_MOST: Final = 5


@dataclass(frozen=True)
class WaitingWork:
    """What waits longest, and how much waits in all."""

    first: Sequence[Approval]
    all: int


async def _waiting(call: Call) -> WaitingWork:
    """Not what the person asked for itself."""
    pending = await call.rooms[Approvals].all(status=Status.PENDING, countries=call.countries(Deed.APPROVE))
    open_ = [each for each in reversed(pending) if each.asked_by != call.actor.source]
    return WaitingWork(open_[:_MOST], len(open_))


CARD: Final = HomeCard(
    "approvals",
    "Waits for your decision",
    "home/approvals.html",
    _waiting,
    {Role.APPROVER: 0, Role.ADMIN: 2},
    deed=Deed.APPROVE,
)
