"""What is done to a downstream: it is tried, given another secret and retired, each by a button of its page."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from abacus.console.errands.types import Order
from abacus.console.pages.downstreams.downstreams import DOWNSTREAM_REGISTER, TRIAL, address_of
from abacus.console.pages.forms.form_page import FormDeed
from abacus.console.pages.forms.overlap import USUAL, overlap_field, read_overlap
from abacus.console.pages.operations.errands import ask
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Refused
from abacus.documents.form.types import Form
from abacus.engage.campaigns.uses import WEBHOOK, campaign_uses
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.engage.downstreams.decide.question import EXTERNAL
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.platform.postgres import nothing_else

# What campaigns reach, how it ends, and what becomes of a campaign that reaches it.
_CALLED: Final = (
    WEBHOOK,
    "Nothing is sent to it any more. Calls that wait are refused.",
    "The campaign {} calls it: its calls are refused from then on.",
)
_ASKED: Final = (
    EXTERNAL.name,
    "It is asked nothing any more.",
    "The campaign {} asks it: conditions on its value do not hold from then on.",
)


async def try_it(call: Call) -> See:
    """The command sends one message, beside the pages."""
    name = (await _in_force(call)).name
    order = Order(TRIAL, name, None, ("downstreams", "test", "--json", "--", name))
    return await ask(call, order, address_of(name), Said("It is being tried; its answer stands below.", "waiting"))


async def another_secret(call: Call) -> FormDeed[int]:
    name, desk = (await _in_force(call)).name, call.rooms[DownstreamDesk]

    async def does(hours: int) -> Page:
        """The page that follows shows the secret, once."""
        overlap, also = timedelta(hours=hours), call.once(nothing_else)
        secret, _ = await desk.rotate_secret(name, overlap, call.actor, also=also)
        return await DOWNSTREAM_REGISTER.document(call, name, secret=secret)

    return FormDeed(
        title=f"Another secret: {name}",
        about="It signs each message from now on, and is shown once.",
        path=f"{address_of(name)}/secret",
        submit="Make another secret",
        command=f"abacus downstreams rotate-secret {name}",
        fields=Form([overlap_field("the receiver")]),
        read=read_overlap,
        does=does,
        begins=USUAL,
        back=address_of(name),
    )


async def retirement(call: Call) -> FormDeed[None]:
    here, desk = await _in_force(call), call.rooms[DownstreamDesk]

    async def does(_: None) -> See:
        await desk.retire(here.name, call.actor, also=call.once(nothing_else))
        return See(address_of(here.name), f"{here.name} is retired.")

    return FormDeed(
        title=f"Retire {here.name}",
        about="It can be published again later, as its next version.",
        path=f"{address_of(here.name)}/retire",
        submit="Retire it",
        command=f"abacus downstreams retire {here.name}",
        fields=Form([]),
        read=lambda _: None,
        does=does,
        notes=await _comes_of(call, here),
        back=address_of(here.name),
        is_final=True,
    )


async def _comes_of(call: Call, here: Downstream) -> Sequence[str]:
    """Of its end, for the campaigns that reach it."""
    if here.kind is DownstreamKind.OWN:
        return [f"Nothing limits the pace of {here.name} any more."]
    origin, end, of_campaign = _CALLED if here.kind is DownstreamKind.WEBHOOK else _ASKED
    uses = await campaign_uses(call.premises.pool, call.now, origin, here.name)
    return [end, *(of_campaign.format(name) for name in dict.fromkeys(each.name for each in uses))]


async def _in_force(call: Call) -> Downstream:
    """Raises `PageFault` for an unknown downstream, and for a retired downstream."""
    name = str(call.request.path_params["document"])
    try:
        latest = (await call.rooms[DownstreamDesk].versions(name))[-1].document
    except Refused:
        raise PageFault("not-found", "No downstream has such a name.") from None
    if latest.retired:
        raise PageFault("done-before", f"{name} is retired.")
    return latest
