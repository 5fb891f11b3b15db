"""Where a member is in a journey: its visits, how it came to where it is, and why it did not enter."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.entry_desk import AskedEntry, EntryDesk, EntryStatus
from abacus.engage.journeys.whereabouts import Whereabouts


@dataclass(frozen=True, kw_only=True)
class JourneyWherePage(Page):
    """Nothing is `found` until a member is named. `asked` are entries that have not come about yet."""

    template: ClassVar[str] = "journey_where.html"
    name: str
    country: str
    member_id: str | None
    found: Part[Whereabouts] | None
    asked: Part[Sequence[AskedEntry]] | None


async def where(call: Call) -> JourneyWherePage:
    history = [each.document for each in await PAGES.history(call)]
    newest, member_id = history[-1], call.asked("member")
    named = f" {shlex.quote(member_id)}" if member_id else ""
    return JourneyWherePage(
        title=f"Where is {member_id}?" if member_id else "Where is a member?",
        command=f"abacus journeys where {newest.name}{named}" if member_id else None,
        name=newest.name,
        country=newest.country,
        member_id=member_id,
        found=await call.part(_found(call, history, member_id)) if member_id else None,
        asked=await call.part(_asked(call, newest, member_id)) if member_id else None,
        form=Form({"member": member_id or ""}),
    )


async def _found(call: Call, history: Sequence[Journey], member_id: str) -> Whereabouts:
    return await call.rooms[JourneyDesk].where(history, member_id)


async def _asked(call: Call, journey: Journey, member_id: str) -> Sequence[AskedEntry]:
    found = (await call.rooms[EntryDesk].where(journey, member_id)).entries
    return [each for each in reversed(found) if each.status is not EntryStatus.ENTERED]
