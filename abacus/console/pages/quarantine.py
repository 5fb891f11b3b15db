"""The quarantine: what was set aside, grouped by reason with the remedy beside it, and the items of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.decide.remedies import remedy_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.console.web.routes import page
from abacus.core.errors import Reason
from abacus.people.types.deed import Deed
from abacus.platform.quarantine.store import Which
from abacus.platform.quarantine.types import HeldItem

_MOST: Final = 50


@dataclass(frozen=True)
class Group:
    """The held items of a reason, and what to do about them."""

    reason: str
    items: int
    remedy: str


@dataclass(frozen=True)
class Line:
    """A held item without its body."""

    id: str
    reason: str
    origin: str
    set_aside_at: datetime
    detail: str
    replays: int


@dataclass(frozen=True, kw_only=True)
class QuarantinePage(Page):
    """The groups, and the newest items of the chosen reason."""

    template: ClassVar[str] = "quarantine.html"
    groups: Part[Sequence[Group]]
    items: Part[Sequence[Line]]
    chosen: str | None
    most: int = _MOST


async def quarantine(call: Call) -> QuarantinePage:
    call.check(Deed.SEE, None)  # an item has no country before it is read
    chosen = call.asked("reason")
    if chosen not in {None, *Reason}:
        raise PageFault("not-found", "Nothing is set aside for such a reason.")
    store, which = call.backends.quarantine, Which(reason=Reason(chosen) if chosen else None)

    async def groups() -> list[Group]:
        counts = await store.counts()
        return [Group(reason, count, remedy_of(reason)) for reason, count in counts.items()]

    async def items() -> list[Line]:
        return [_line(each) for each in await store.list(which, limit=_MOST)]

    option = f" --reason {chosen}" if chosen else ""
    return QuarantinePage(
        title="Quarantine",
        command=f"abacus quarantine list{option}",
        groups=await call.part(groups()),
        items=await call.part(items()),
        chosen=chosen,
    )


def _line(held: HeldItem) -> Line:
    item = held.item
    return Line(item.id, item.reason, item.origin, held.set_aside_at, item.detail, held.replays)


SERVED: Final = (page("/quarantine", quarantine),)
