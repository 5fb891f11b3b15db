"""Where is my transaction? One search over the quarantine, the ledger and the partners' register at once, and over
streams, queues and dead letters as an errand, because that takes longer.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import urlencode

from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.oversight.where.decide.mentions import Wanted
from abacus.oversight.where.records import AMONG, in_ledger, in_register, soon_in_quarantine
from abacus.oversight.where.types import Sighting, Station

_LONGEST: Final = 200
_EVERYWHERE: Final = "where"


@dataclass(frozen=True, kw_only=True)
class WherePage(Page):
    """What was met, place by place; None before anything was looked for. `among`: of the quarantine so many items were
    looked at beside those under the key; None where these are all. `everywhere` is the last of all places.
    """

    template: ClassVar[str] = "where.html"
    places: Mapping[str, Part[list[Sighting]]] | None = None
    among: int | None = None
    everywhere: Part[Done | None] | None = None
    address: str = "/where"


async def where(call: Call) -> WherePage:
    form = _checked(call.narrowed("key", "source"))
    if not form.get("key") or form.wrong:
        return WherePage(title="Where is it?", form=form)
    wanted = _wanted(form)
    pool, clock = call.premises.pool, call.premises.clock
    aside = await call.part(soon_in_quarantine(pool, clock, wanted))
    sightings, is_whole = aside.value or ([], True)
    keys = sorted({*wanted.keys, *(each.key for each in sightings if each.key is not None)})
    option = f" --source {shlex.quote(wanted.source)}" if wanted.source else ""
    return WherePage(
        title="Where is it?",
        command=f"abacus where {shlex.quote(wanted.text)}{option}",
        places={
            Station.LEDGER.value: await call.part(in_ledger(pool, keys)),
            Station.PARTNERS.value: await call.part(in_register(pool, clock, keys)),
            Station.QUARANTINE.value: Part(None if aside.value is None else sightings, aside.down),
        },
        among=None if is_whole else AMONG,
        everywhere=await call.part(newest(call, _EVERYWHERE, _subject(wanted))),
        address=_address(wanted),
        form=form,
    )


async def look_everywhere(call: Call) -> Page | See:
    """The command looks into all places, of the last day."""
    form = _checked(Form({"key": call.form.get("wanted"), "source": call.form.get("source")}))
    if not form.get("key") or form.wrong:
        return WherePage(title="Where is it?", form=form)
    wanted = _wanted(form)
    source = (f"--source={wanted.source}",) if wanted.source else ()
    return await ask(
        call,
        Order(_EVERYWHERE, _subject(wanted), None, ("where", "--json", *source, "--", wanted.text)),
        _address(wanted),
    )


def _checked(form: Form) -> Form:
    return form.but(
        **{name: f"At most {_LONGEST} characters." for name, value in form.typed.items() if len(value) > _LONGEST}
    )


def _wanted(form: Form) -> Wanted:
    return Wanted(form.get("key"), form.get("source") or None)


def _subject(wanted: Wanted) -> str:
    return f"{wanted.source or ''} {wanted.text}".strip()


def _address(wanted: Wanted) -> str:
    return f"/where?{urlencode({'key': wanted.text} | ({'source': wanted.source} if wanted.source else {}))}"
