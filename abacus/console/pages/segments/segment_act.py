"""What is done to a segment: each deed has a page with its fields, a confirmation with the numbers, and a sentence
afterwards. A deed is declared as a `SegmentAct`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from abacus.console.decide.effects import Effect
from abacus.console.decide.form_field import FormField
from abacus.console.pages.segments.segment import history_of
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import Prepared, taken
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form
from abacus.console.web.page import Page, See
from abacus.console.web.routes import Served, form, page
from abacus.people.types.deed import Deed
from abacus.signals.segments.types import Segment

IDS, FILE = "ids", "file"  # fields of a list


@dataclass(frozen=True, kw_only=True)
class SegmentAct:
    """`fields` are for this segment, or for a new one where it is None. `prepare` reads what was typed into them; it
    raises `WrongForm`.
    """

    name: str
    label: str
    about: str
    fields: Callable[[Call, Segment | None], Awaitable[Sequence[FormField]]]
    prepare: Callable[[Call, Form, Segment | None], Awaitable[Prepared]]
    is_final: bool = False
    of_new: bool = False


@dataclass(frozen=True, kw_only=True)
class SegmentActPage(Page):
    """The fields, or what was typed into them and what comes of it."""

    template: ClassVar[str] = "segment_act.html"
    name: str | None
    address: str
    label: str
    about: str
    fields: Sequence[FormField]
    effects: Sequence[Effect]
    notes: Sequence[str]
    is_confirmation: bool
    is_final: bool


def served(act: SegmentAct) -> tuple[Served, Served]:
    """The page of the deed, and the form that is sent to it."""
    path = f"/segments-{act.name}" + ("" if act.of_new else "/{segment}")

    async def shown(call: Call) -> SegmentActPage:
        asked = {name: value for name, value in call.request.query_params.items() if call.asked(name)}
        return await _page(call, act, await _changed(call, act), Form(asked))

    async def sent(call: Call) -> Page | See:
        segment, typed = await _changed(call, act), _with_file(call.form.shown())
        return await taken(typed, partial(act.prepare, call, typed, segment), partial(_page, call, act, segment))

    deed = Deed.PUBLISH_SEGMENTS
    return page(path, shown, deed), form(path, sent, deed, takes_files=True)


async def _changed(call: Call, act: SegmentAct) -> Segment | None:
    """The segment of the page. Raises `PageFault` where the person may not change it."""
    if act.of_new:
        return None
    (segment, *_) = await history_of(call)
    if segment.dropped:
        raise PageFault("not-found", f"{segment.name} was dropped. Make it anew to put members in.")
    call.check(Deed.PUBLISH_SEGMENTS, segment.country)
    return segment


def _with_file(typed: Form) -> Form:
    """The lines of a file stand behind those that were pasted, so that all of them are shown again."""
    file = typed.typed.get(FILE, "")
    pasted = typed.exactly(IDS)
    # A file has a first line of its own, which names its columns: it stands first.
    lines = "\n".join(each for each in (file.strip("\r\n"), pasted) if each)
    return Form({**{name: text for name, text in typed.typed.items() if name != FILE}, IDS: lines}, typed.wrong)


async def _page(
    call: Call,
    act: SegmentAct,
    segment: Segment | None,
    typed: Form,
    prepared: Prepared | None = None,
    *,
    fault: str | None = None,
) -> SegmentActPage:
    name = segment.name if segment is not None else None
    return SegmentActPage(
        title=act.label if name is None else f"{act.label}: {name}",
        name=name,
        address=f"/segments-{act.name}" + ("" if name is None else f"/{name}"),
        label=act.label,
        about=act.about,
        fields=await act.fields(call, segment),
        effects=prepared.effects if prepared is not None else (),
        notes=prepared.notes if prepared is not None else (),
        is_confirmation=prepared is not None,
        is_final=act.is_final,
        form=typed,
        fault=fault,
    )
