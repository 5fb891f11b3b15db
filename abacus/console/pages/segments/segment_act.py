"""What is done to a segment: each deed has a page with its fields, a confirmation with the numbers, and a sentence
afterwards. A deed is declared as a `SegmentAct`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from abacus.console.decide.form_field import FormField
from abacus.console.pages.segments.segment import history_of
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import DeedPage, Prepared, taken
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
class SegmentActPage(DeedPage):
    """A deed to this segment, or the making of one."""

    template: ClassVar[str] = "segment_act.html"
    name: str | None


def served(act: SegmentAct) -> tuple[Served, Served]:
    """The page of the deed, and the form that is sent to it."""
    path = f"/segments-{act.name}" + ("" if act.of_new else "/{segment}")

    async def shown(call: Call) -> SegmentActPage:
        begun = await _page(call, act, await _changed(call, act))
        return replace(begun, form=call.narrowed(*call.request.query_params))

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
    """The lines of a file and the lines that were pasted, together, so that all of them are shown again."""
    file = typed.typed.get(FILE, "")
    pasted = typed.exactly(IDS)
    # A file has a first line of its own, which names its columns: it stands first.
    lines = "\n".join(each for each in (file.strip("\r\n"), pasted) if each)
    return Form({**{name: text for name, text in typed.typed.items() if name != FILE}, IDS: lines}, typed.wrong)


async def _page(call: Call, act: SegmentAct, segment: Segment | None) -> SegmentActPage:
    name = segment.name if segment is not None else None
    return SegmentActPage(
        title=act.label if name is None else f"{act.label}: {name}",
        address=f"/segments-{act.name}" + ("" if name is None else f"/{name}"),
        label=act.label,
        about=act.about,
        fields=await act.fields(call, segment),
        is_final=act.is_final,
        name=name,
    )
