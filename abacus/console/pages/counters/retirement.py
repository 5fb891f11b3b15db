"""The end of a counter: it counts no more, for a reason."""

from typing import Final

from abacus.console.pages.forms.form_page import FormDeed, one_field
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import See
from abacus.core.errors import Refused
from abacus.core.fields import Bad, string
from abacus.documents.form.types import Field, Form, Text
from abacus.engage.campaigns.uses import campaign_uses
from abacus.platform.postgres import nothing_else
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.facts.decide.counter_sides import COUNTER

_FIELDS: Final = Form(
    [
        Field(
            name="reason",
            sort=Text(lines=2),
            label="Reason",
            help="It is kept with the counter.",
            required=True,
            begins="It is retired because",
        )
    ]
)


async def retirement(call: Call) -> FormDeed[str]:
    """Raises `PageFault` for an unknown counter, and for a retired counter."""
    name, desk = str(call.request.path_params["counter"]), call.rooms[CounterDesk]
    try:
        latest = (await desk.versions(name))[-1].document
    except Refused:
        raise PageFault("not-found", "No counter has such a name.") from None
    if latest.retired:
        raise PageFault("done-before", f"{latest.label} is retired.")

    async def does(reason: str) -> See:
        await desk.withdraw(name, reason, call.actor, also=call.once(nothing_else))
        return See(f"/counters/{name}", f"{latest.label} counts no more.")

    uses = await campaign_uses(call.premises.pool, call.now, COUNTER.name, name)
    return FormDeed(
        title=f"Retire {name}",
        about="It counts no more from then on. Its name and its keys stay taken.",
        path=f"/counters/{name}/retire",
        submit="Retire it",
        command=f"abacus counters retire {name} --reason …",
        fields=_FIELDS,
        read=one_field("reason", _reason, ""),
        does=does,
        notes=[
            "What it has counted can be asked for until it is forgotten.",
            *(
                f"The campaign {each} asks for it: it answers to no event any more."
                for each in dict.fromkeys(use.name for use in uses)
            ),
        ],
        back=f"/counters/{name}",
        is_final=True,
    )


def _reason(value: object) -> str:
    text = string(value).strip()
    if not text:
        raise Bad("say why")
    return text
