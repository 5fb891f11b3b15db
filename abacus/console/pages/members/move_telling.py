"""How the approval of an adjustment or of a reversal is told: the member, and its balance before and after."""

from collections.abc import Sequence
from typing import Any, Final

from abacus.console.decide.fields import FieldLine
from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changed
from abacus.console.pages.approvals.telling import Telling
from abacus.console.web.calls import Call
from abacus.ledger.store.large_moves import LargeMoves, read_movement
from abacus.ledger.types.limits import Alone
from abacus.ledger.types.movement import Adjustment, Reversal
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.approval import Approval, ApprovalKind, Status


def _adjustment(approval: Approval, document: Any) -> str:
    return f"{document['points']:+,} {document['program']} for {document['member_id']}, {approval.country}"


def _reversal(approval: Approval, document: Any) -> str:
    return f"Take back {document['part']:,} {document['program']} from {document['member_id']}, {approval.country}"


def _taking_back(_: Approval, document: Any) -> str:
    return f"taking back {document['part']:,} {document['program']} from {document['member_id']}"


async def _told(call: Call, approval: Approval, _: Any) -> Told:
    move = read_movement(approval)
    claim = await call.reading.ledger.claim(move.key) if approval.status == Status.DONE else None
    posted = await call.reading.ledger.transfer(claim) if claim is not None else None
    about = [Named("member", move.member_id)]
    if isinstance(move, Reversal):
        about.append(Named("transfer", move.reverses))
    if posted is not None:
        about.append(Named("transfer", posted.key))
    return Told(
        why=_why(move, call.rooms[LargeMoves].alone),
        facts=_facts(move),
        changes=_of_posted(posted) if posted is not None else await _expected(call, move),
        against="the account as it was" if posted is not None else "the account as it is now",
        about=about,
    )


def _facts(move: Adjustment | Reversal) -> Sequence[tuple[str, str]]:
    good = f"{move.expires_on:%Y-%m-%d}"
    if isinstance(move, Reversal):
        return [("Reason", move.reason or "none"), ("Points that are given back are good until", good)]
    behalf = [("On behalf of", move.on_behalf_of)] if move.on_behalf_of is not None else []
    until = [("Points are good until", good)] if move.points > 0 else []
    return [("Reason", move.reason), *until, *behalf]


def _points(move: Adjustment | Reversal, original: Transfer | None) -> int:
    """The change of the balance. Taking back what was spent gives points back."""
    if isinstance(move, Adjustment):
        return move.points
    part = move.part if isinstance(move.part, int) else 0
    return part if original is not None and original.points < 0 else -part


async def _expected(call: Call, move: Adjustment | Reversal) -> Sequence[FieldLine]:
    original = None
    if isinstance(move, Reversal):
        claim = await call.reading.ledger.claim(move.reverses)
        original = await call.reading.ledger.transfer(claim) if claim is not None else None
    points = _points(move, original)
    for holding in await call.reading.members.holdings(move.member_id):
        now = holding.at(call.now)
        if now.program == move.program:
            free = 0 if original is not None and original.is_pending(call.now) else points
            held = [changed("Free to spend", now.available, now.available + free)] if now.held or now.pending else []
            return [changed(f"Balance of {move.program}", now.balance, now.balance + points), *held]
    return [changed(f"Balance of {move.program}", "no account", points)]


def _of_posted(posted: Transfer) -> Sequence[FieldLine]:
    return [changed(f"Balance of {posted.program}", posted.balance_after - posted.points, posted.balance_after)]


def _why(move: Adjustment | Reversal, alone: Alone) -> str:
    if isinstance(move, Adjustment) and abs(move.points) > alone.adjustment:
        return f"One person moves at most {alone.adjustment:,} points alone; these are {abs(move.points):,}."
    if isinstance(move, Reversal) and isinstance(move.part, int) and move.part > alone.reversal:
        return f"One person takes back at most {alone.reversal:,} points of a transfer; these are {move.part:,}."
    return (
        "Together with what was moved before, these are more points than one person moves alone,"
        " in one transfer, in a day or in a month."
    )


ADJUSTMENT: Final = Telling(kind=ApprovalKind.ADJUSTMENT, noun="Adjustment", title=_adjustment, told=_told)
REVERSAL: Final = Telling(kind=ApprovalKind.REVERSAL, noun="Reversal", title=_reversal, told=_told, within=_taking_back)
