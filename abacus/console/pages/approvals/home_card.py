"""On the first page: what waits for the person's decision, and what became of what the person asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from abacus.console.pages.approvals.approval_list import Waiting, waiting_for
from abacus.console.pages.approvals.tellings import EVERY_KIND, ListedApproval
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Status
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role

_MOST: Final = 5
_LATELY: Final = timedelta(days=2)
_LOOKED_AT: Final = 20


@dataclass(frozen=True)
class AskedFor:
    """What the person asked for: what waits for others, and what was decided of late."""

    first: Sequence[ListedApproval]
    waiting: int


async def _waiting(call: Call) -> Waiting | None:
    return await waiting_for(call, _MOST)


async def _asked(call: Call) -> AskedFor | None:
    found = await call.rooms[Approvals].all(asked_by=call.actor.source, limit=_LOOKED_AT)
    open_ = [each for each in found if each.status == Status.PENDING]
    decided = [each for each in found if each.decided_at is not None and call.now - each.decided_at < _LATELY]
    shown = [*open_, *decided][:_MOST]
    return AskedFor([EVERY_KIND.listed(each) for each in shown], len(open_)) if shown else None


def _to_decide(it: Waiting) -> str | None:
    return _counted(it.all, it.told, "approval waits", "approvals wait", "for your decision")


def _to_wait(it: AskedFor) -> str | None:
    return _counted(
        it.waiting, str(it.waiting), "request of yours waits", "requests of yours wait", "for another person"
    )


def _counted(number: int, told: str, one: str, more: str, rest: str) -> str | None:
    return f"{told} {one if number == 1 else more} {rest}" if number else None


CARDS: Final = (
    HomeCard(
        "approvals",
        "Waits for your decision",
        "home/approvals.html",
        _waiting,
        {Role.APPROVER: 0, Role.ADMIN: 2},
        deed=Deed.APPROVE,
        waits=_to_decide,
    ),
    HomeCard(
        "asked", "What you asked for", "home/asked.html", _asked, {Role.COUNTRY_EDITOR: 2}, usual=8, waits=_to_wait
    ),
)
