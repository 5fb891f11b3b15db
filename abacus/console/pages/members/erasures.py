"""Erasing a member: its id is typed once more, and the command does it beside the pages, with the login that owns the
tables. The list says what was done, and not to whom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.decide.effects import Effect
from abacus.console.decide.form_field import FormField
from abacus.console.errands.types import ERASE, Order
from abacus.console.pages.members.member_act import Known, MemberAct
from abacus.console.pages.operations.errands import ask
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import Prepared
from abacus.console.web.forms import WrongForm
from abacus.console.web.page import Page, Said, See
from abacus.console.web.parts import Part
from abacus.oversight.erasure.erase import Erasure, erasures
from abacus.people.types.deed import Deed

_MOST: Final = 100
_LONGEST_REASON: Final = 200


@dataclass(frozen=True, kw_only=True)
class ErasuresPage(Page):
    """The newest erasures."""

    template: ClassVar[str] = "erasures.html"
    erasures: Part[Sequence[Erasure]]


async def listed(call: Call) -> ErasuresPage:
    return ErasuresPage(
        title="Erasures",
        command="abacus members erasures",
        erasures=await call.part(erasures(call.premises.pool, _MOST)),
    )


async def _fields(_: Call, __: Known) -> Sequence[FormField]:
    return (
        FormField("confirm", "The member's id, once more"),
        FormField("reason", "Reason", hint="It is kept. Leave the member's name out."),
    )


async def _prepare(call: Call, known: Known) -> Prepared:
    member_id, typed = known.member_id, call.form.shown()
    if not call.premises.erases:
        raise call.wrong("This console was not given the login for it.")
    reason = typed.get("reason")
    if typed.get("confirm") != member_id:
        typed = typed.but(confirm="That is not the member's id.")
    if not reason or len(reason) > _LONGEST_REASON:
        typed = typed.but(reason=f"Say why, in at most {_LONGEST_REASON} characters; it is kept.")
    elif member_id in reason:
        typed = typed.but(reason="Leave the member's id out: the reason is kept.")
    if typed.wrong:
        raise WrongForm(typed)

    async def does() -> See:
        arguments = ("members", "erase", "--yes", "--json", f"--reason={reason}", "--", member_id)
        asked = Said(
            "You asked for it. It stands here once the member is erased; a failure stands on the member's page.",
            "waiting",
            "/erasures",
            "Look again",
        )
        return await ask(call, Order(ERASE, member_id, None, arguments), "/erasures", asked)

    effects = [
        Effect(
            f"{each.program} in {each.country}", f"{each.balance:,} points of {member_id}", "the same, of a pseudonym"
        )
        for each in known.accounts
    ]
    notes = ("Personal data is deleted for ever, and nobody can bring it back.", "The ledger keeps its transfers.")
    return Prepared(effects, does, notes)


ERASE_ACT: Final = MemberAct(
    "erase",
    "Erase for ever",
    "Deletes a member's personal data, and puts a pseudonym in the place of the id.",
    Deed.ERASE,
    _fields,
    _prepare,
    is_final=True,
    everywhere=True,
    needs_account=None,
)
