"""Erasing a member: its id is typed once more, and the command does it beside the pages, with the login that owns the
tables. The list says what was done, and not to whom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.errands.types import ERASE, Order
from abacus.console.pages.members.member import member_of, shown
from abacus.console.pages.operations.errands import ask
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.oversight.erasure.erase import Erasure, erasures

_MOST: Final = 100
_LONGEST_REASON: Final = 200


@dataclass(frozen=True, kw_only=True)
class ErasuresPage(Page):
    """The newest erasures. `started`: one was just asked for, and its errand goes with the member's name."""

    template: ClassVar[str] = "erasures.html"
    erasures: Part[Sequence[Erasure]]
    started: bool


async def listed(call: Call) -> ErasuresPage:
    return ErasuresPage(
        title="Erasures",
        command="abacus members erasures",
        erasures=await call.part(erasures(call.premises.pool, _MOST)),
        started=call.asked("started") is not None,
    )


async def erase(call: Call) -> Page | See:
    member_id, typed = member_of(call), call.form.shown()
    if not call.premises.erases:
        return await shown(call, member_id, typed, "This console was not given the login for it.")
    reason = typed.get("erase_reason")
    if typed.get("erase_confirm") != member_id:
        typed = typed.but(erase_confirm="That is not the member's id.")
    if not reason or len(reason) > _LONGEST_REASON:
        typed = typed.but(erase_reason=f"Say why, in at most {_LONGEST_REASON} characters; it is kept.")
    elif member_id in reason:
        typed = typed.but(erase_reason="Leave the member's id out: the reason is kept.")
    if typed.wrong:
        return await shown(call, member_id, typed)
    arguments = ("members", "erase", "--yes", "--json", f"--reason={reason}", "--", member_id)
    return await ask(call, Order(ERASE, member_id, None, arguments), "/erasures?started=yes")
