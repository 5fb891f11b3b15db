"""What a person does to a member's points: adjusts, holds, releases, and takes back. The form's key is the key of the
movement, so a form that is sent twice moves points once.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from pydantic import BaseModel, ValidationError

from abacus.console.pages.members.member import address_of, member_of, shown
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.console.web.page import Page, See
from abacus.intake.partners.decide.ask import Objection
from abacus.intake.partners.orders import (
    NEW_MEMBER,
    AccountOpening,
    AdjustmentOrder,
    HoldOrder,
    ReverseOrder,
    Target,
    adjustment_of,
    hold_of,
    let_go,
    opening_of,
    parse_transfer_id,
    reversal_of,
    target_of,
)
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.types.movement import Moved
from abacus.ledger.types.port import Status
from abacus.people.types.approval import Approval, CannotDecide
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader

_MOST_DIGITS: Final = 12


def _move(moved: Callable[[Call, str], Awaitable[Moved | Approval]]) -> Callable[[Call], Awaitable[Page | See]]:
    """The handler of a movement: on to the member, or back to its page with what was typed and what is wrong."""

    async def handler(call: Call) -> Page | See:
        member_id = member_of(call)
        try:
            return _after(call, member_id, await moved(call, member_id))
        except CannotDecide as error:
            return await shown(call, member_id, call.form.shown(), error.detail)
        except WrongForm as wrong:
            return await shown(call, member_id, wrong.form, wrong.fault)

    return handler


@_move
async def adjust(call: Call, member_id: str) -> Moved | Approval:
    order = _ordered(call.form, AdjustmentOrder, "adjust", points=True)
    target = await _target(call, member_id, order, Deed.ADJUST, opening=opening_of(order))
    movement = adjustment_of(order, target, f"adjust:{call.form.key}", call.actor.agent, call.now)
    return await call.rooms[LargeMoves].do(movement)


@_move
async def hold(call: Call, member_id: str) -> Moved:
    order = _ordered(call.form, HoldOrder, "hold", points=True)
    target = await _target(call, member_id, order, Deed.MOVE_POINTS)
    movement = hold_of(order, target, f"ops:{call.form.key}", call.actor.agent, call.now)
    return await call.rooms[LargeMoves].move(movement)


@_move
async def release(call: Call, member_id: str) -> Moved:
    try:
        held = await call.reading.holds.hold(member_id, UUID(call.form.get("hold")))
    except ValueError:
        held = None
    if held is None or not call.may(Deed.SEE, held.country):
        raise WrongForm(call.form.shown(), "The member has no such hold.")
    call.check(Deed.MOVE_POINTS, held.country)
    return await call.rooms[LargeMoves].move(let_go(held, call.actor.agent))


@_move
async def reverse(call: Call, member_id: str) -> Moved | Approval:
    order = _ordered(call.form, ReverseOrder, "reverse")
    original = await _original(call, member_id, call.form.get("reverse_key"))
    call.check(Deed.REVERSE, original.country)
    card = call.rooms[CardReader].book().in_force(original.country, call.now)
    movement = reversal_of(order, original, card, key=f"ops:{call.form.key}", agent=call.actor.agent, now=call.now)
    return await call.rooms[LargeMoves].do(movement)


async def _original(call: Call, member_id: str, typed: str) -> Any:
    ledger = call.reading.ledger
    claim, place = await ledger.claim(typed), parse_transfer_id(typed)
    found = await ledger.transfer(claim) if claim else await ledger.at(*place) if place else None
    if found is None or found.member_id != member_id or not call.may(Deed.SEE, found.country):
        raise WrongForm(call.form.shown().but(reverse_key="The member has no transfer of this key or id."))
    return found


async def _target(
    call: Call, member_id: str, order: Any, deed: Deed, *, opening: AccountOpening = AccountOpening.NONE
) -> Target:
    """The account, in a country where the person may do it. An account elsewhere is as good as none, but in its program
    no other is opened.
    """
    accounts = await call.reading.ledger.accounts(member_id)
    seen = [each for each in accounts if call.may(Deed.SEE, each.country)]
    try:
        target = target_of(member_id, order, seen, call.rooms[CardReader].book(), call.now, opening=opening)
    except Objection as error:
        if error.pointer == NEW_MEMBER:
            told = "Nobody of this id has an account. If the id is right and the member is new, say so."
            raise WrongForm(call.form.shown().but(adjust_new_member=told)) from None
        raise WrongForm(call.form.shown(), error.detail) from None
    if any(each.program == target.program and each not in seen for each in accounts):
        raise WrongForm(call.form.shown(), f"No account of {target.program} can be opened for this member.")
    call.check(deed, target.country)
    return target


def _ordered(typed: Form, order: type[BaseModel], prefix: str, *, points: bool = False) -> Any:
    """The order out of the fields that begin with the prefix. Raises `WrongForm`."""
    given: dict[str, Any] = {}
    for name in order.model_fields:
        text = typed.get(f"{prefix}_{name}")
        if text:
            given[name] = _read(name, text)
    try:
        return order(**given)
    except ValidationError as error:
        wrong = {f"{prefix}_{fault['loc'][0]}": _says(str(fault["loc"][0]), points=points) for fault in error.errors()}
        raise WrongForm(typed.shown().but(**wrong)) from None


def _read(name: str, text: str) -> int | str | bool:
    if name == "new_member":
        return True  # of a box that is ticked
    return _number(text) if name in {"points", "expires_in"} else text


def _number(text: str) -> int | str:
    plain = text.replace(",", "").removeprefix("+")
    is_number = plain.removeprefix("-").isdecimal() and plain.isascii() and len(plain) <= _MOST_DIGITS
    return int(plain) if is_number else text


def _says(name: str, *, points: bool) -> str:
    match name:
        case "points":
            return "A whole number of points is needed." if points else "A whole number of points, or none for all."
        case "reason":
            return "Say why, in at most 200 characters."
        case "expires_in":
            return "Seconds, at most 31 days."
        case _:
            return "There is no such thing."


def _after(call: Call, member_id: str, outcome: Moved | Approval) -> See:
    """Raises `WrongForm` for a movement that was refused."""
    if isinstance(outcome, Approval):
        return See(f"{address_of(member_id)}?{urlencode({'asked': outcome.approval_id})}")
    if outcome.fault is not None:
        raise WrongForm(call.form.shown(), outcome.fault.detail)
    if outcome.status is Status.CONFLICT:
        raise WrongForm(call.form.shown(), "This form was sent before with other values; what it said then was done.")
    return See(address_of(member_id))
