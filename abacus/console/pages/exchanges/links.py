"""The accounts of a member at partners, and the page of one, by which it is ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, NamedTuple

from abacus.console.decide.reasons import LONGEST
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, See
from abacus.exchanges.decide.link import Link, LinkWay
from abacus.exchanges.link_desk import LinkDesk
from abacus.people.types.deed import Deed

_WAYS: Final = {
    LinkWay.CODE: "the code that the member was told",
    LinkWay.PARTNER: "the partner's word",
    LinkWay.OAUTH: "the member's sign-in at the partner",
}


class LinkRow(NamedTuple):
    """A link as people see it: of the number its end alone. `since` is when it came to its state."""

    link_id: str
    member_id: str
    programme: str
    country: str
    number: str
    state: str
    reason: str | None
    since: datetime
    asked_at: datetime
    asked_by: str
    usable_from: datetime | None
    verified_by: str | None


@dataclass(frozen=True, kw_only=True)
class LinkPage(Page):
    """One link."""

    template: ClassVar[str] = "exchange_link.html"
    row: LinkRow
    may_end: bool


async def links_of(call: Call, member_id: str) -> Sequence[LinkRow]:
    """The links of a member in countries that are open to the person. Raises `Unavailable`."""
    desk = call.rooms[LinkDesk]
    found = await desk.of_member(member_id)
    countries = await desk.countries(found)
    return [
        _row(call, each, country)
        for each in found
        if (country := countries.get(each.programme)) is not None and call.may(Deed.SEE, country)
    ]


async def link(call: Call) -> LinkPage:
    found, country = await _found(call)
    return LinkPage(
        title=f"{found.shown} at {found.programme}",
        command=f"abacus exchanges links {found.member_id}",
        row=_row(call, found, country),
        may_end=found.is_open and call.may(Deed.MOVE_POINTS, country),
    )


async def end(call: Call) -> See:
    """Ends it, and writes that into the log."""
    found, country = await _found(call)
    call.check(Deed.MOVE_POINTS, country)
    reason = call.form.get("reason")
    if not reason or len(reason) > LONGEST:
        raise call.wrong(reason=f"Say why, in at most {LONGEST} characters.")
    await call.rooms[LinkDesk].unlink(found, call.actor.agent, reason)
    return See(f"/exchange-links/{found.link_id}", "It has ended.")


async def _found(call: Call) -> tuple[Link, str]:
    """The link, and its country. Raises `PageFault` where it is not open to the person."""
    desk = call.rooms[LinkDesk]
    found = await desk.of_id(call.request.path_params["id"])
    country = None if found is None else (await desk.countries([found])).get(found.programme)
    if found is None or country is None or not call.may(Deed.SEE, country):
        raise PageFault("not-found", "No such link is open to you.")
    return found, country


def _row(call: Call, each: Link, country: str) -> LinkRow:
    return LinkRow(
        link_id=str(each.link_id),
        member_id=each.member_id,
        programme=each.programme,
        country=country,
        number=each.shown,
        state=each.state_at(call.now),
        reason=each.reason,
        since=each.ended_at or each.verified_at or each.asked_at,
        asked_at=each.asked_at,
        asked_by=each.asked_by,
        usable_from=each.usable_from,
        verified_by=None if each.verified_at is None or each.way is None else _WAYS[each.way],
    )
