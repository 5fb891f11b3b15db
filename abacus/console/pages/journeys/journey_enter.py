"""A person lets a member into a journey by hand, with the context that the journey reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from abacus.console.decide.form_field import FormField
from abacus.console.decide.journey_picture import what_happens
from abacus.console.pages.journeys.context_fields import context_fields, context_of, with_faults
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import DeedPage, Prepared, taken
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import WrongForm
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Refused
from abacus.core.members import fault_of_member
from abacus.engage.journeys.decide.context import ContextFaults
from abacus.engage.journeys.decide.entry import ByCall
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.entry_desk import ByHand, EntryDesk, EntryStatus, NotEntered
from abacus.engage.journeys.kind import JOURNEYS
from abacus.people.types.deed import Deed

_LONGEST_REASON: Final = 200


@dataclass(frozen=True, kw_only=True)
class JourneyEnterPage(DeedPage):
    """The entry of one member."""

    template: ClassVar[str] = "journey_enter.html"
    name: str


async def enter(call: Call) -> JourneyEnterPage:
    begun = await _page(await _open_to(call))
    return replace(begun, form=call.narrowed("member"))


async def let_in(call: Call) -> Page | See:
    journey = await _open_to(call)
    return await taken(call.form.shown(), partial(_prepared, call, journey), partial(_page, journey))


def takes_in_by_hand(call: Call, journey: Journey) -> bool:
    """Whether the person may let members into this version, while it is in force."""
    return isinstance(journey.entry.how, ByCall) and call.may(Deed.MOVE_POINTS, journey.country)


async def _open_to(call: Call) -> Journey:
    """The version that takes members in. Raises `PageFault`."""
    history = await PAGES.history(call)
    name = history[-1].document.name
    if all(each.approved_at is None for each in history):
        raise PageFault("not-found", f"No version of {name} was approved yet.")
    journey = await call.rooms[EntryDesk].journey(name)
    call.check(Deed.MOVE_POINTS, journey.country)
    if not isinstance(journey.entry.how, ByCall):
        raise PageFault("not-found", f"Members enter {name} by themselves: its entry is not by the API.")
    return journey


async def _page(journey: Journey) -> JourneyEnterPage:
    return JourneyEnterPage(
        title=f"Let a member into {journey.name}",
        command=f"abacus journeys enter {journey.name} MEMBER --reason …",
        address=f"{PAGES.path}/{journey.name}/enter",
        label="Let the member in",
        about="The member enters the version that is in force, as if your systems had asked for it.",
        fields=_fields(journey),
        name=journey.name,
    )


def _fields(journey: Journey) -> Sequence[FormField]:
    reason = FormField("reason", "Reason", hint="For the log.")
    return [FormField("member", "Member", hint="Its id."), *context_fields(journey), reason]


async def _prepared(call: Call, journey: Journey) -> Prepared:
    """Raises `WrongForm` with all that is wrong."""
    desk, typed, member_id = call.rooms[EntryDesk], call.form.shown(), call.form.get("member")
    reason, context = typed.get("reason"), context_of(typed, journey)
    wrong = typed
    if not member_id or fault_of_member(member_id) is not None:
        wrong = wrong.but(member="That is no member's id." if member_id else "Say whom.")
    if not 0 < len(reason) <= _LONGEST_REASON:
        wrong = wrong.but(reason=f"Say why, in at most {_LONGEST_REASON} characters.")
    try:
        journey = await desk.check(journey.name, member_id, context)
    except ContextFaults as faults:
        whole = [each for each in faults.faults if not each.path]
        raise WrongForm(with_faults(wrong, faults.faults), "; ".join(each.message for each in whole) or None) from None
    except NotEntered as fault:
        raise WrongForm(wrong, f"{fault}.") from None
    except Refused as fault:
        wrong = wrong if "member" in wrong.wrong else wrong.but(member=f"{fault}.")
    if wrong.wrong:
        raise WrongForm(wrong)
    return Prepared((), partial(_do, call, journey, member_id, context), await _notes(call, journey, member_id))


async def _notes(call: Call, journey: Journey, member_id: str) -> Sequence[str]:
    first = what_happens(JOURNEYS.to_document(journey)["nodes"][journey.begin])
    notes = [f"{member_id} enters {journey.label}. The first node is {journey.begin}: {first}."]
    stays = (await call.rooms[EntryDesk].where(journey, member_id)).stays
    notes += [f"It is inside already, since {each.entered_at:%Y-%m-%d}, at {each.node}." for each in stays if each.node]
    return notes


async def _do(call: Call, journey: Journey, member_id: str, context: dict[str, Any]) -> See:
    desk, name, reason = call.rooms[EntryDesk], journey.name, call.form.get("reason")
    try:
        asked = await desk.let_in(name, ByHand(member_id, context, str(call.form.key), reason), call.actor)
    except Refused as fault:
        raise call.wrong(f"{fault}.") from None
    said = Said(f"You asked for it. {member_id} enters {name} within seconds, unless something is against it.")
    if asked.status is EntryStatus.REFUSED:
        said = Said(f"{member_id} did not enter {name}: {asked.refused}.", "bad")
    return See(f"{PAGES.path}/{name}/where?{urlencode({'member': member_id})}", said)
