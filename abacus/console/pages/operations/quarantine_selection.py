"""A selection of the quarantine: what would come of it, and then replaying exactly these items, once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.errands.types import Order, State
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.pages.operations.quarantine import HeldLine, line_of, partners_of
from abacus.console.selections.store import MOST, Selection, SelectionStore
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, See
from abacus.platform.quarantine.store import QuarantineStore, Which

DRY_RUN: Final = "quarantine-dry-run"
REPLAY: Final = "quarantine-replay"
_FILE: Final = "items.txt"
_SHOWN: Final = 50


@dataclass(frozen=True, kw_only=True)
class SelectionPage(Page):
    """The items as they are now, the last dry run, and the replay."""

    template: ClassVar[str] = "quarantine_selection.html"
    id: str
    chosen: str
    made_by: str
    made_at: datetime
    all: int
    held: int
    reasons: Sequence[tuple[str, int]]
    first: Sequence[HeldLine]
    dry_run: Done | None
    replay: Done | None
    may_replay: bool


async def selection(call: Call) -> SelectionPage:
    chosen = await _open(call)
    held = await call.rooms[QuarantineStore].replayable(Which(ids=chosen.items), limit=MOST)
    tried, replayed = await _newest(call, chosen)
    partners = await partners_of(call)
    return SelectionPage(
        title=f"{len(chosen.items):,} {'item' if len(chosen.items) == 1 else 'items'} of the quarantine",
        command="abacus quarantine replay --ids-from FILE --dry-run",
        id=str(chosen.selection_id),
        chosen=chosen.chosen,
        made_by=chosen.made_by,
        made_at=chosen.made_at,
        all=len(chosen.items),
        held=len(held),
        reasons=Counter(str(each.item.reason) for each in held).most_common(),
        first=[line_of(each, partners) for each in held[:_SHOWN]],
        dry_run=tried,
        replay=replayed,
        may_replay=replayed is None and tried is not None and tried.errand.state is State.DONE,
    )


async def try_it(call: Call) -> See:
    """Asks what would come of each item."""
    chosen = await _open(call)
    return await ask(call, _order(chosen, DRY_RUN, "--dry-run"), _path(chosen))


async def replay(call: Call) -> See:
    """Replays the items, after a dry run of them, and when their number was typed. A selection is replayed once."""
    chosen = await _open(call)
    tried, replayed = await _newest(call, chosen)
    if replayed is not None:
        return See(_path(chosen))
    if tried is None or tried.errand.state is not State.DONE:
        raise call.wrong(number="See first what would come of it.")
    if call.form.get("number") != str(len(chosen.items)):
        raise call.wrong(number=f"Type {len(chosen.items)}, the number of its items.")
    return await ask(call, _order(chosen, REPLAY), _path(chosen))


async def _open(call: Call) -> Selection:
    found = await call.rooms[SelectionStore].find(call.request.path_params["selection"])
    if found is None:
        raise PageFault("not-found", "There is no such selection.")
    return found


async def _newest(call: Call, chosen: Selection) -> tuple[Done | None, Done | None]:
    """The last dry run, and the replay."""
    subject = str(chosen.selection_id)
    return await newest(call, DRY_RUN, subject), await newest(call, REPLAY, subject)


def _order(chosen: Selection, kind: str, *more: str) -> Order:
    arguments = ("quarantine", "replay", f"--ids-from={_FILE}", *more, "--json")
    return Order(kind, str(chosen.selection_id), None, arguments, {_FILE: "\n".join(chosen.items) + "\n"})


def _path(chosen: Selection) -> str:
    return f"/quarantine/selections/{chosen.selection_id}"
