"""Where is my transaction? One search over the quarantine, the ledger and the partners' register."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.web.calls import Call
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.console.web.routes import page
from abacus.oversight.where.decide.mentions import Wanted
from abacus.oversight.where.records import in_ledger, in_quarantine, in_register
from abacus.oversight.where.types import Place, Sighting
from abacus.people.types.deed import Deed

_LONGEST: Final = 200
# The places that the database does not have.
_NOT_LOOKED_INTO: Final = {
    "queues": "nobody but their workers may look into them",
    Place.DEAD_LETTERS.value: "the console is not connected to SQS; the command looks there",
    Place.STREAM.value: "the console is not connected to Kafka; the command looks there",
}


@dataclass(frozen=True, kw_only=True)
class WherePage(Page):
    """What was met, place by place; None before anything was looked for."""

    template: ClassVar[str] = "where.html"
    places: Mapping[str, Part[list[Sighting]]] | None = None
    not_looked_into: Mapping[str, str]
    form: Form = EMPTY


async def where(call: Call) -> WherePage:
    call.check(Deed.SEE, None)  # a key says nothing of the country until it is found
    form = Form({name: value for name in ("key", "source") if (value := call.asked(name)) is not None})
    form = form.but(
        **{name: f"At most {_LONGEST} characters." for name, value in form.typed.items() if len(value) > _LONGEST}
    )
    if not form.get("key") or form.wrong:
        return WherePage(title="Where is it?", not_looked_into=_NOT_LOOKED_INTO, form=form)
    wanted = Wanted(form.get("key"), form.get("source") or None)
    pool, clock = call.backends.pool, call.backends.clock
    aside = await call.part(in_quarantine(pool, clock, wanted))
    keys = sorted({*wanted.keys, *(each.key for each in aside.value or () if each.key is not None)})
    option = f" --source {shlex.quote(wanted.source)}" if wanted.source else ""
    return WherePage(
        title="Where is it?",
        command=f"abacus where {shlex.quote(wanted.text)}{option}",
        places={
            Place.LEDGER.value: await call.part(in_ledger(pool, keys)),
            Place.PARTNERS.value: await call.part(in_register(pool, clock, keys)),
            Place.QUARANTINE.value: aside,
        },
        not_looked_into=_NOT_LOOKED_INTO,
        form=form,
    )


SERVED: Final = (page("/where", where),)
