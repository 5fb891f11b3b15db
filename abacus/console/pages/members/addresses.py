"""The addresses of a member's pages, and the member of an address."""

import re
from urllib.parse import quote, unquote

from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.core.ids import ID_PATTERN


def address_of(member_id: str) -> str:
    return f"/members/{quote(member_id, safe='')}"


def act_address(act: str, member_id: str) -> str:
    """Of the page of something that is done to a member."""
    return f"/members-{act}/{quote(member_id, safe='')}"


def member_of(call: Call) -> str:
    """The member of the address, in which a slash of an id is written as `%2F`. Raises `PageFault`."""
    scope = call.request.scope
    parts = scope["raw_path"].split(b"/")
    if len(parts) != scope["route"].path.count("/") + 1:
        raise PageFault("not-found", "There is no such page. The slash of an id is written as %2F.")
    member_id = unquote(parts[-1].decode("latin-1"), errors="replace")
    if re.fullmatch(ID_PATTERN, member_id) is None:
        raise PageFault("not-found", "That is no member's id.")
    return member_id
