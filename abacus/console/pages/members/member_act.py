"""What is done to a member: each deed has a page with its fields, a confirmation that says what comes of it, and a
sentence afterwards. A deed is declared as a `MemberAct`; the form's key is the key of what it does, so a form that is
sent twice does it once.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from abacus.console.decide.form_field import FormField
from abacus.console.pages.members.addresses import act_address, address_of, member_of
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import DeedPage, Prepared, taken
from abacus.console.web.page import Page, See
from abacus.console.web.routes import Served, form, page
from abacus.intake.partners.members import AccountAsOf
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class Known:
    """The member of the page, and its accounts in countries where the person may do the deed."""

    member_id: str
    accounts: Sequence[AccountAsOf]

    def account(self, program: str) -> AccountAsOf | None:
        return next((each for each in self.accounts if each.program == program), None)


@dataclass(frozen=True)
class MemberAct:
    """`fields` are for this member, and `prepare` reads what was typed into them; it raises `WrongForm`.
    `needs_account`: whether it is for members who have one, or for others; None where that does not matter.
    `of_hold`: it stands beside each hold, and not among the buttons.
    """

    name: str
    label: str
    about: str
    deed: Deed
    fields: Callable[[Call, Known], Awaitable[Sequence[FormField]]]
    prepare: Callable[[Call, Known], Awaitable[Prepared]]
    is_final: bool = False
    everywhere: bool = False
    needs_account: bool | None = True
    of_hold: bool = False


@dataclass(frozen=True, kw_only=True)
class MemberActPage(DeedPage):
    """A deed to this member, whose accounts are those in countries where the person may do it."""

    template: ClassVar[str] = "member_act.html"
    member_id: str
    member_address: str
    accounts: Sequence[AccountAsOf]
    is_unknown: bool


def served(act: MemberAct) -> tuple[Served, Served]:
    """The page of the deed, and the form that is sent to it."""
    path = f"/members-{act.name}/{{member:path}}"

    async def shown(call: Call) -> MemberActPage:
        begun = await _page(call, act, await _known(call, act))
        return replace(begun, form=call.narrowed(*call.request.query_params))

    async def sent(call: Call) -> Page | See:
        known = await _known(call, act)
        if act.needs_account and not known.accounts:
            return await _page(call, act, known)
        return await taken(call.form.shown(), partial(act.prepare, call, known), partial(_page, call, act, known))

    return page(path, shown, act.deed, everywhere=act.everywhere), form(path, sent, act.deed, everywhere=act.everywhere)


async def _known(call: Call, act: MemberAct) -> Known:
    member_id = member_of(call)
    holdings = await call.reading.members.holdings(member_id)
    return Known(member_id, tuple(each.at(call.now) for each in holdings if call.may(act.deed, each.account.country)))


async def _page(call: Call, act: MemberAct, known: Known) -> MemberActPage:
    is_unknown = bool(act.needs_account) and not known.accounts
    return MemberActPage(
        title=f"{act.label}: {known.member_id}",
        address=act_address(act.name, known.member_id),
        label=act.label,
        about=act.about,
        fields=() if is_unknown else await act.fields(call, known),
        is_final=act.is_final,
        member_id=known.member_id,
        member_address=address_of(known.member_id),
        accounts=known.accounts,
        is_unknown=is_unknown,
    )
