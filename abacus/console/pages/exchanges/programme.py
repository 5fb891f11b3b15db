"""One programme: a version of it as sentences, and what may be done to this version."""

from dataclasses import dataclass
from typing import ClassVar

from abacus.console.pages.exchanges.programme_pages import PAGES
from abacus.console.pages.stated.stated_pages import ShownVersion
from abacus.console.web.calls import Call
from abacus.console.web.page import Page


@dataclass(frozen=True, kw_only=True)
class ProgrammePage(Page):
    """A version of one programme."""

    template: ClassVar[str] = "stated.html"
    shown: ShownVersion


async def programme(call: Call) -> ProgrammePage:
    history = await PAGES.history(call)
    record = PAGES.shown(call, history)
    name = record.document.name
    return ProgrammePage(
        title=name, command=f"abacus exchanges show {name}", shown=await PAGES.version(call, history, record)
    )
