"""What a partner asked the API for lately, and how it was answered."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.pages.partners.partner import partner_of, registered
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Earlier, Noted

_MOST: Final = 50
_ALL: Final = "all"
_REFUSED: Final = "refused"
_CHOICES: Final[Sequence[tuple[str, str]]] = ((_ALL, "all"), (_REFUSED, "refused"))


@dataclass(frozen=True, kw_only=True)
class RequestsPage(Page):
    """Requests of a partner, the newest first, or only the requests with a given id."""

    template: ClassVar[str] = "partner_requests.html"
    partner_id: str
    name: str
    list: Rows[Noted]
    choices: Sequence[tuple[str, str]] = _CHOICES


async def requests(call: Call) -> RequestsPage:
    partner_id = partner_of(call)
    name = (await registered(call, partner_id)).partner.name
    request, shown = call.asked("request"), call.asked("shown") or _ALL
    refused, place = shown == _REFUSED, place_of(call, UUID)
    store = RequestStore(call.reading.pool)
    if request is not None:
        found = [each for each in await store.named(partner_id, request, limit=_MOST) if each.is_refused or not refused]
    else:
        before = Earlier(*place) if place is not None else None
        found = list(await store.latest(partner_id, refused=refused, limit=_MOST + 1, before=before))
    options = (f" --request {shlex.quote(request)}" if request is not None else "") + " --refused" * refused
    return RequestsPage(
        title=f"Requests of {name}",
        command=f"abacus partners requests {partner_id}{options}",
        partner_id=partner_id,
        name=name,
        list=rows_of(call, found, _MOST, lambda each: (each.at, each.noted_id)),
        form=Form({"request": request or "", "shown": shown}),
    )
