"""Approvals by their id, or by what they are about, among the latest."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from abacus.console.pages.approvals.tellings import EVERY_KIND
from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call
from abacus.people.decide.agreement import sees
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed

_LATEST: Final = 200


async def _approvals(call: Call, text: str, most: int) -> Sequence[Found]:
    room = call.rooms[Approvals]
    try:
        one = await room.find(UUID(text))
    except ValueError:
        wanted = text.casefold()
        latest = await room.all(countries=call.countries(Deed.SEE), limit=_LATEST)
        found = [_found(each) for each in latest if wanted in f"{EVERY_KIND.title(each)} {each.subject}".casefold()]
        return found[:most]
    return [_found(one, exact=True)] if one is not None and sees(call.actor, one) else ()


def _found(approval: Approval, *, exact: bool = False) -> Found:
    detail = f"{approval.status}, asked for on {approval.asked_at:%Y-%m-%d}"
    return Found("approval", str(approval.approval_id), EVERY_KIND.title(approval), detail, exact)


APPROVALS: Final = Finder("Approvals", _approvals)
