"""The list of approvals: what waits for this person first, and then everything, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.pages.approvals.tellings import EVERY_KIND, ListedApproval
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.page import Page
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Status
from abacus.people.types.deed import Deed

_MOST: Final = 50
_MOST_WAITING: Final = 20
_AMONG: Final = 200  # approvals that wait


@dataclass(frozen=True)
class Waiting:
    """What waits longest for the person's decision, and how much waits in all. `is_whole`: it is no more than that."""

    first: Sequence[ListedApproval]
    all: int
    is_whole: bool

    @property
    def told(self) -> str:
        """How many they are, in words."""
        return f"{self.all:,}{'' if self.is_whole else ' or more'}"


@dataclass(frozen=True, kw_only=True)
class ApprovalsPage(Page):
    """A page of the list, and what it may be narrowed to. `waiting` stands on the first page of the whole list, for
    people who may approve.
    """

    template: ClassVar[str] = "approvals.html"
    waiting: Waiting | None
    list: Rows[ListedApproval]
    chosen: str | None
    statuses: Sequence[str] = tuple(Status)


async def waiting_for(call: Call, most: int = _MOST_WAITING) -> Waiting | None:
    """None for a person who may approve nothing. Raises `Unavailable`."""
    if not call.may_somewhere(Deed.APPROVE):
        return None
    found, is_whole = await call.rooms[Approvals].waiting_for(call.actor, among=_AMONG)
    return Waiting([EVERY_KIND.listed(each) for each in found[:most]], len(found), is_whole)


async def approvals(call: Call) -> ApprovalsPage:
    chosen, after, countries = call.chosen("status", Status), place_of(call, UUID), call.countries(Deed.SEE)
    found = await call.rooms[Approvals].all(status=chosen, countries=countries, before=after, limit=_MOST + 1)
    listed = [EVERY_KIND.listed(each) for each in found]
    option = f" --status {chosen}" if chosen else ""
    return ApprovalsPage(
        title="Approvals",
        command=f"abacus approvals list{option}",
        waiting=await waiting_for(call) if chosen is None and after is None else None,
        list=rows_of(call, listed, _MOST, lambda each: (each.asked_at, each.approval_id)),
        chosen=chosen,
    )
