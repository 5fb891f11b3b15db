"""What a person does to a member's points: adds and takes, redeems, holds, captures, releases, and takes back."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from abacus.console.decide.effects import of_account, of_days, of_tier
from abacus.console.decide.form_field import FormField
from abacus.console.decide.reasons import choices
from abacus.console.pages.members.addresses import address_of
from abacus.console.pages.members.member_act import Known, MemberAct
from abacus.console.pages.members.point_orders import (
    account_of,
    held_of,
    named_program,
    number,
    ordered,
    original_of,
    standing,
)
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import Prepared
from abacus.console.web.page import Said, See
from abacus.intake.partners.orders import (
    AccountOpening,
    AdjustmentOrder,
    CaptureOrder,
    HoldOrder,
    ReverseOrder,
    SpendOrder,
    adjustment_of,
    capture_of,
    hold_of,
    let_go,
    reversal_of,
    spend_of,
)
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.types.kinds import REVERSIBLE, TransferKind
from abacus.ledger.types.movement import Adjustment, Movement, Reversal
from abacus.ledger.types.port import Status
from abacus.ledger.types.positions import FROM_THE_NEWEST
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.life.member_life import Away
from abacus.oversight.life.reader import Asked
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader
from abacus.programs.tiers.decide.policy import period_of

_TO_CHOOSE: Final = 25
_NEW: Final = "new:"  # before the country in which an account is to be opened
_SPANS: Final = (
    (timedelta(minutes=15), "15 minutes"),
    (timedelta(hours=1), "an hour"),
    (timedelta(days=1), "a day"),
    (timedelta(days=7), "a week"),
    (timedelta(days=31), "31 days"),
)


async def _adjust_fields(call: Call, known: Known) -> Sequence[FormField]:
    accounts = _account_field(known, more=_openings(call, known))
    return (accounts, _points("-50 takes fifty."), *_reason("adjust"))


async def _adjust(call: Call, known: Known) -> Prepared:
    return await _adjustment(call, known, call.form.get("account"), AccountOpening.FURTHER)


async def _open_fields(call: Call, known: Known) -> Sequence[FormField]:
    again = FormField("again", "The member's id, once more", hint="A mistyped id would open an account for nobody.")
    options = (("", "choose one"), *_openings(call, known))
    return (again, FormField("account", "Account", options=options), _points(), *_reason("adjust"))


async def _open(call: Call, known: Known) -> Prepared:
    if known.accounts:
        raise call.wrong(f"{known.member_id} has an account: adjust that one.")
    if call.form.get("again") != known.member_id:
        raise call.wrong(again="That is not the id of this page.")
    return await _adjustment(call, known, call.form.get("account"), AccountOpening.FIRST)


async def _adjustment(call: Call, known: Known, chosen: str, opening: AccountOpening) -> Prepared:
    place = {"country": chosen.removeprefix(_NEW)} if chosen.startswith(_NEW) else {"program": chosen}
    is_new = {"new_member": True} if opening is AccountOpening.FIRST else {}
    order = ordered(call.form, AdjustmentOrder, "adjust", points=number(call.form.get("points")), **place, **is_new)
    target = await account_of(call, known, order, Deed.ADJUST, opening=opening)
    movement = adjustment_of(order, target, f"adjust:{call.form.key}", call.actor.agent, call.now)
    account = standing(call, known, target, order.points)
    tier = of_tier(TransferKind.ADJUST, None, None, order.points, counts=True)
    effects = [*of_account(account, points=order.points), *of_days(account, movement.expires_on)]
    return Prepared(effects, partial(_move_or_ask, call, movement), (tier, *_second_person(call, movement)))


async def _spend_fields(_: Call, known: Known) -> Sequence[FormField]:
    return (_account_field(known), _points(), *_reason("spend"))


async def _spend(call: Call, known: Known) -> Prepared:
    order = ordered(call.form, SpendOrder, "spend", points=number(call.form.get("points")), **named_program(call))
    target = await account_of(call, known, order, Deed.MOVE_POINTS)
    account = standing(call, known, target, -order.points)
    movement = spend_of(order, target, f"ops:{call.form.key}", call.actor.agent)
    return Prepared(of_account(account, points=-order.points), partial(_move, call, movement))


async def _hold_fields(_: Call, known: Known) -> Sequence[FormField]:
    spans = tuple((str(int(span.total_seconds())), words) for span, words in _SPANS)
    span = FormField("span", "For how long", options=spans, hint="After that they are free again by themselves.")
    return (_account_field(known), _points(), span, *_reason("hold"))


async def _hold(call: Call, known: Known) -> Prepared:
    points, span = number(call.form.get("points")), number(call.form.get("span"))
    order = ordered(call.form, HoldOrder, "hold", points=points, expires_in=span, **named_program(call))
    target = await account_of(call, known, order, Deed.MOVE_POINTS)
    account = standing(call, known, target, -order.points)
    movement = hold_of(order, target, f"ops:{call.form.key}", call.actor.agent, call.now)
    return Prepared(of_account(account, held=order.points), partial(_move, call, movement))


async def _capture_fields(call: Call, known: Known) -> Sequence[FormField]:
    hint = "All of them where nothing is typed; the rest is released."
    return (await _hold_field(call, known), FormField("points", "Points", hint=hint, inputmode="numeric"))


async def _capture(call: Call, known: Known) -> Prepared:
    held = await held_of(call, known)
    typed = call.form.get("points")
    order = ordered(call.form, CaptureOrder, None, **({"points": number(typed)} if typed else {}))
    spent = order.points or held.points
    if spent > held.points:
        raise call.wrong(points=f"{held.points:,} points are held.")
    effects = of_account(known.account(held.program), points=-spent, held=-held.points)
    return Prepared(effects, partial(_move, call, capture_of(order, held, call.actor.agent)))


async def _release_fields(call: Call, known: Known) -> Sequence[FormField]:
    return (await _hold_field(call, known),)


async def _release(call: Call, known: Known) -> Prepared:
    held = await held_of(call, known)
    effects = of_account(known.account(held.program), held=-held.points)
    return Prepared(effects, partial(_move, call, let_go(held, call.actor.agent)))


async def _reverse_fields(call: Call, known: Known) -> Sequence[FormField]:
    below = {each.program: FROM_THE_NEWEST for each in known.accounts}
    newest = await call.reading.ledger.history(known.member_id, below, _TO_CHOOSE) if below else ()
    options = {each.key: _in_a_line(each) for each in newest if each.kind in REVERSIBLE and each.points}
    asked = call.form.get("transfer") or call.asked("transfer")
    if asked and asked not in options:
        options[asked] = asked
    hint = "All that is left of them where nothing is typed."
    return (
        FormField("transfer", "Transfer", value=asked or "", options=(("", "choose one"), *options.items())),
        FormField("points", "Points", hint=hint, inputmode="numeric"),
        *_reason("reverse"),
    )


async def _reverse(call: Call, known: Known) -> Prepared:
    original = await original_of(call, known.member_id, call.form.get("transfer"))
    typed = call.form.get("points")
    order = ordered(call.form, ReverseOrder, "reverse", **({"points": number(typed)} if typed else {}))
    call.check(Deed.REVERSE, original.country)
    card = call.rooms[CardReader].book().in_force(original.country, call.now)
    movement = reversal_of(order, original, card, key=f"ops:{call.form.key}", agent=call.actor.agent, now=call.now)
    left = original.points + await call.reading.ledger.taken_back(original)
    points = -left if order.points is None else -order.points if original.points > 0 else order.points
    if not left:
        raise call.wrong(transfer="All of it was taken back before.")
    life = await call.reading.life.of(Asked(known.member_id, (original.country,), transfers=1), call.rooms[Approvals])
    tiers = () if isinstance(life.tiers, Away) else life.tiers
    policy = card.card.tier_policy
    of = period_of(original.occurred_at, card.card.zone, policy.period_months) if policy is not None else None
    now = period_of(call.now, card.card.zone, policy.period_months) if policy is not None else None
    progress = next((each for each in tiers if each.program == original.program), None)
    kind = TransferKind.REVERSE if original.kind == TransferKind.EARN else TransferKind.ADJUST
    notes = [of_tier(kind, progress, policy, points, counts=of == now)]
    if points < 0:
        notes.append("Points that have lapsed or were spent since are not taken a second time: then it is less.")
    pending = points if original.is_pending(call.now) else 0
    effects = of_account(known.account(original.program), points=points, pending=pending)
    return Prepared(effects, partial(_move_or_ask, call, movement), (*notes, *_second_person(call, movement)))


POINT_ACTS: Final = (
    MemberAct("adjust", "Adjust", "Adds points to an account, or takes them.", Deed.ADJUST, _adjust_fields, _adjust),
    MemberAct("spend", "Redeem", "Spends points as the member would.", Deed.MOVE_POINTS, _spend_fields, _spend),
    MemberAct("hold", "Hold", "Nobody can spend points that are held.", Deed.MOVE_POINTS, _hold_fields, _hold),
    MemberAct(
        "capture", "Capture", "Spends the points of a hold.", Deed.MOVE_POINTS, _capture_fields, _capture, of_hold=True
    ),
    MemberAct(
        "release", "Release", "Frees the points of a hold.", Deed.MOVE_POINTS, _release_fields, _release, of_hold=True
    ),
    MemberAct("reverse", "Take back", "Takes a transfer back, or a part.", Deed.REVERSE, _reverse_fields, _reverse),
    MemberAct(
        "open",
        "Open an account",
        "For a new member: opens the first account, with points.",
        Deed.ADJUST,
        _open_fields,
        _open,
        needs_account=False,
    ),
)


async def _move_or_ask(call: Call, movement: Adjustment | Reversal) -> See:
    outcome = await call.rooms[LargeMoves].do(movement)
    if not isinstance(outcome, Approval):
        return await _moved(call, movement, outcome)
    text = f"Nothing has moved yet: a second person has to agree. {outcome.summary}"
    said = Said(text, "waiting", f"/approvals/{outcome.approval_id}", "Look at the approval")
    return See(address_of(movement.member_id), said)


async def _move(call: Call, movement: Movement) -> See:
    return await _moved(call, movement, await call.rooms[LargeMoves].move(movement))


async def _moved(call: Call, movement: Movement, outcome: Any) -> See:
    """Raises `WrongForm` for a movement that was refused."""
    if outcome.fault is not None:
        raise call.wrong(outcome.fault.detail)
    if outcome.status is Status.CONFLICT:
        raise call.wrong("This form was sent before with other values; what it said then was done.")
    transfer = outcome.transfer or (await call.premises.here.ledger.transfer(outcome.claim) if outcome.claim else None)
    text = "It is done." if transfer is None else f"It is done: {_done(transfer)}"
    return See(address_of(movement.member_id), Said(text))


def _done(transfer: Transfer) -> str:
    words = f"{transfer.points:+,} {transfer.program}, " if transfer.points else f"{transfer.kind}, "
    return f"{words}the balance is {transfer.balance_after:,}."


def _second_person(call: Call, movement: Adjustment | Reversal) -> tuple[str, ...]:
    needed = call.rooms[LargeMoves].is_large(movement)
    return ("These points need a second person: nothing moves before somebody else has approved it.",) if needed else ()


def _account_field(known: Known, more: Sequence[tuple[str, str]] = ()) -> FormField:
    options = [
        (each.program, f"{each.program} in {each.country}: {each.available:,} points available")
        for each in known.accounts
    ]
    return FormField("account", "Account", options=(*options, *more))


def _openings(call: Call, known: Known) -> list[tuple[str, str]]:
    """The accounts that could be opened, by the cards of countries where the person may."""
    held = {each.program for each in known.accounts}
    book = call.rooms[CardReader].book()
    cards = [(each, call.premises.card_of(each)) for each in book.countries() if call.may(Deed.ADJUST, each)]
    return [
        (f"{_NEW}{country}", f"a new account of {card.program} in {country}")
        for country, card in cards
        if card is not None and card.program not in held
    ]


def _points(hint: str | None = None) -> FormField:
    return FormField("points", "Points", hint=hint)


def _reason(act: str) -> tuple[FormField, FormField]:
    return (
        FormField("reason", "Reason", options=choices(act)),
        FormField("details", "In your words", hint="It is kept with the transfer, and the member may be told."),
    )


async def _hold_field(call: Call, known: Known) -> FormField:
    programs = {each.program for each in known.accounts}
    held = [each for each in await call.reading.holds.open_holds(known.member_id) if each.program in programs]
    options = [
        (str(each.hold_id), f"{each.points:,} {each.program}, held by {each.held_by}")
        for each in held
        if each.settled_by is None
    ]
    return FormField("hold", "Hold", value=call.asked("hold") or "", options=(("", "choose one"), *options))


def _in_a_line(transfer: Transfer) -> str:
    return f"{transfer.points:+,} {transfer.program}, {transfer.kind} on {transfer.posted_at:%Y-%m-%d}: {transfer.key}"
