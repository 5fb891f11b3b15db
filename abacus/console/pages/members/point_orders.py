"""What people type about a member's points, as the orders of the house: the account, the hold and the transfer, in
countries where the person may do it.
"""

from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel, ValidationError

from abacus.console.decide.reasons import LONGEST, reason_of
from abacus.console.pages.members.member_act import Known
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.intake.partners.decide.ask import Objection
from abacus.intake.partners.members import AccountAsOf
from abacus.intake.partners.orders import AccountOpening, Target, parse_transfer_id, target_of
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader

_MOST_DIGITS: Final = 12
_FIELDS: Final = {"points": "points", "reason": "details", "expires_in": "span"}


async def held_of(call: Call, known: Known) -> Hold:
    try:
        held = await call.reading.holds.hold(known.member_id, UUID(call.form.get("hold")))
    except ValueError:
        held = None
    if held is None or not call.may(Deed.SEE, held.country):
        raise call.wrong(hold="Choose a hold of the member.")
    if held.settled_by is not None:
        raise call.wrong(hold="An exchange holds these points, and settles them once its partner has answered.")
    call.check(Deed.MOVE_POINTS, held.country)
    return held


async def original_of(call: Call, member_id: str, typed: str) -> Transfer:
    ledger = call.reading.ledger
    claim, place = await ledger.claim(typed), parse_transfer_id(typed)
    found = await ledger.transfer(claim) if claim else await ledger.at(*place) if place else None
    if found is None or found.member_id != member_id or not call.may(Deed.SEE, found.country):
        raise call.wrong(transfer="The member has no transfer of this key or id.")
    return found


async def account_of(
    call: Call, known: Known, order: Any, deed: Deed, *, opening: AccountOpening = AccountOpening.NONE
) -> Target:
    """The account, in a country where the person may do it. An account elsewhere is as good as none, but in its program
    no other is opened.
    """
    member_id = known.member_id
    accounts = await call.reading.ledger.accounts(member_id)
    seen = [each for each in accounts if call.may(Deed.SEE, each.country)]
    try:
        target = target_of(member_id, order, seen, call.rooms[CardReader].book(), call.now, opening=opening)
    except Objection as error:
        raise call.wrong(account=f"{error.detail}.") from None
    if any(each.program == target.program and each not in seen for each in accounts):
        raise call.wrong(f"No account of {target.program} can be opened for this member.")
    call.check(deed, target.country)
    return target


def named_program(call: Call) -> dict[str, str]:
    chosen = call.form.get("account")
    return {"program": chosen} if chosen else {}


def ordered(typed: Form, order: type[BaseModel], act: str | None, **given: Any) -> Any:
    """The order, with its reason where the deed has one. Raises `WrongForm` with every fault."""
    wrong: dict[str, str] = {}
    made: BaseModel | None = None
    if act is not None:
        reason = reason_of(act, typed.get("reason"), typed.get("details"))
        if reason is None:
            wrong["details" if typed.get("reason") else "reason"] = f"Say why, in at most {LONGEST} characters."
        given["reason"] = reason or "-"
    try:
        made = order(**given)
    except ValidationError as error:
        wrong |= {_FIELDS.get(str(each["loc"][0]), "account"): _says(str(each["loc"][0])) for each in error.errors()}
    if wrong:
        raise WrongForm(typed.shown().but(**wrong))
    return made


def _says(name: str) -> str:
    match name:
        case "points":
            return "A whole number of points is needed."
        case "reason":
            return f"Say why, in at most {LONGEST} characters."
        case _:
            return "Choose one."


def number(text: str) -> int | str:
    plain = text.replace(",", "").removeprefix("+")
    is_number = plain.removeprefix("-").isdecimal() and plain.isascii() and len(plain) <= _MOST_DIGITS
    return int(plain) if is_number else text


def standing(call: Call, known: Known, target: Target, change: int) -> AccountAsOf | None:
    """The account as it stands; None for an account that will be opened. Raises `WrongForm` for more points than are
    available; the ledger would refuse it.
    """
    account = known.account(target.program)
    left = (account.available if account is not None else 0) + change
    if left < 0:
        raise call.wrong(points=f"The account has {-left:,} points too few.")
    return account
