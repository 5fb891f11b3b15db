"""One reservation or redemption: of an offer, or of a reward; and what comes back of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, Final, TypeAlias
from uuid import UUID

from abacus.console.decide.reasons import LONGEST
from abacus.console.pages.redemptions.taken_row import TakenRow, row_of_offer, row_of_reward
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import DoneBefore
from abacus.console.web.page import Page, See
from abacus.core.ids import redemption_key
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.reservation import ReservationStatus
from abacus.engage.offers.decide.settlement import RollingBack
from abacus.engage.offers.returns import OfferReturns
from abacus.engage.offers.taken_reader import TakenOffer, TakenReader
from abacus.engage.rewards.decide.redemption import PAID, Redemption, Stage
from abacus.engage.rewards.redemption_desk import RedemptionDesk
from abacus.engage.rewards.redemption_reader import RedemptionReader
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also
from abacus.pricing.store.cards import CardReader

ROLL_BACK: Final = "roll-back"
CANCEL: Final = "cancel"
RETURN: Final = "return"
_WORDS: Final = {
    ROLL_BACK: "Roll back: the money is free for the offer's limits, points are taken back",
    CANCEL: "Cancel: the points come back, and the piece is there for others",
    RETURN: "Return: the points come back, and a code stays used",
}
_SAID: Final = {ROLL_BACK: "It is rolled back.", CANCEL: "It is cancelled.", RETURN: "It is returned."}

Taken: TypeAlias = TakenOffer | Redemption
Fact: TypeAlias = tuple[str, str | datetime]


@dataclass(frozen=True, kw_only=True)
class RedemptionPage(Page):
    """`facts` are told by their names; `transfer` is the key of the award or of the payment, where points moved."""

    template: ClassVar[str] = "redemption.html"
    row: TakenRow
    facts: Sequence[Fact]
    transfer: str | None
    items: Sequence[Mapping[str, Any]]
    act_options: Sequence[tuple[str, str]]
    is_money: bool


async def redemption(call: Call) -> RedemptionPage:
    taken = await _found(call)
    acts = [(act, _WORDS[act]) for act in _acts(taken)] if call.may(Deed.MOVE_POINTS, taken.country) else []
    if isinstance(taken, TakenOffer):
        row = row_of_offer(taken, call.now)
        facts: Sequence[Fact] = [("Held until", taken.until), ("Reservation", str(taken.reservation_id))]
        has_points = taken.points and taken.redemption_id is not None
        transfer = redemption_key(taken.redemption_id) if has_points and taken.redemption_id is not None else None
        items = json.loads(taken.items)
    else:
        row, items = row_of_reward(taken, call.now), []
        facts = _facts(taken)
        transfer = f"redemption:{taken.redemption_id}:capture" if taken.stage in PAID else None
    return RedemptionPage(
        title=row.id,
        command=f"abacus members show --all {row.member_id}",
        row=row,
        facts=facts,
        transfer=transfer,
        items=items,
        act_options=acts,
        is_money=isinstance(taken, TakenOffer) and taken.saves > 0,
    )


async def bring_back(call: Call) -> See:
    """Rolls back, cancels or returns it, and writes that into the log."""
    taken = await _found(call)
    call.check(Deed.MOVE_POINTS, taken.country)
    act, reason = call.form.get("act"), call.form.get("reason")
    if act not in _acts(taken):
        raise call.wrong("By now nothing of that can be done.")
    if not reason or len(reason) > LONGEST:
        raise call.wrong(reason=f"Say why, in at most {LONGEST} characters.")
    name = taken.offer if isinstance(taken, TakenOffer) else taken.reward
    details = {"did": act, "of": name, "redemption": call.request.path_params["id"].hex, "reason": reason}
    also = call.once(call.told(Deed.MOVE_POINTS, f"member:{taken.member_id}", country=taken.country, **details))
    try:
        if isinstance(taken, TakenOffer):
            await _roll_back(call, taken, also)
        else:
            desk = call.rooms[RedemptionDesk]
            await (desk.cancel(taken, also=also) if act == CANCEL else desk.bring_back(taken, also=also))
    except DoneBefore:
        pass
    return See(f"/redemptions/{call.request.path_params['id']}", _SAID[act])


async def _roll_back(call: Call, taken: TakenOffer, also: Also) -> None:
    """In whole, or so much of the money as was typed. Raises `WrongForm` and `Refused`."""
    typed = call.form.get("money")
    try:
        saves = int(Decimal(typed) * MICROS) if typed else None
    except InvalidOperation:
        saves = 0
    if saves is not None and not 0 < saves <= taken.saves - taken.saves_back:
        raise call.wrong(money="Write how much of the money, at most what is left of it.")
    card = call.rooms[CardReader].book().in_force(taken.country, call.now)
    id_, key = call.request.path_params["id"], f"console:{call.form.key}"
    order = RollingBack(taken.redemption_id or id_, taken.caller, key, saves, card)
    await call.rooms[OfferReturns].roll_back(order, taken.reservation_id, also=also)


async def _found(call: Call) -> Taken:
    """Raises `PageFault` for what is not there, or not open to the person."""
    id_: UUID = call.request.path_params["id"]
    pool = call.reading.pool
    found: Taken | None = await TakenReader(pool).one(id_) or await RedemptionReader(pool).of_id(id_)
    if found is None or not call.may(Deed.SEE, found.country):
        raise PageFault("not-found", "No such reservation or redemption is open to you.")
    return found


def _acts(taken: Taken) -> Sequence[str]:
    if isinstance(taken, TakenOffer):
        return [ROLL_BACK] if taken.status == ReservationStatus.REDEEMED else []
    if taken.stage == (Stage.SENT if taken.offer is None else Stage.GIVEN):
        return [CANCEL, RETURN]
    return [RETURN] if taken.stage in PAID else []


def _facts(taken: Redemption) -> list[Fact]:
    facts: list[Fact] = [("Program", taken.program)]
    if taken.pool is not None:
        facts.append(("Code", f"of {taken.pool}" if taken.stage in PAID else "none"))
    if taken.offer is not None:
        facts.append(("Invited to", taken.offer))
    if taken.award_program is not None:
        facts.append(("Paid out in", f"{taken.award_points:,} {taken.award_program}"))
    if taken.webhook is not None:
        facts.append(("Fulfilled by", f"the webhook {taken.webhook}"))
        facts.append(("Reported by", taken.partner or "people of the house"))
    if taken.late_at is not None:
        facts.append(("Late after", taken.late_at))
    return facts
