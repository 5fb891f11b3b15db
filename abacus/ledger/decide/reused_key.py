"""Which facts of a request differ from its key's first request, as far as they are kept. Pure.

A key keeps a digest of its facts, which says that they differ and not where; the award or transfer under it has most of
them.
"""

from decimal import Decimal
from typing import Any, Final, TypeAlias

from abacus.core.errors import SetAside
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Adjustment, Movement, Reserve, Reversal, Spend
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Adjusted, Calculated, Explanation, Granted, Held, Reversed, Spent

Facts: TypeAlias = dict[str, Any]

_REQUEST: Final = "request"  # the kind of request; the facts of two kinds are not compared
_ANOTHER: Final = "it is the key of another request, whose facts are not at hand"
_NOT_KEPT: Final = "the first request differs in a fact of which only a digest is kept"


def differing(first: Facts, second: Facts) -> str:
    """The facts that differ, with both values. Nothing is known of the first request where its facts are empty."""
    if not first or not second:
        return _ANOTHER
    if first[_REQUEST] != second[_REQUEST]:
        return f"the first request was for {first[_REQUEST]}, this one is for {second[_REQUEST]}"
    differ = [name for name in second if name in first and first[name] != second[name]]
    told = "; ".join(f"{name} was {_text(first[name])}, now it is {_text(second[name])}" for name in differ)
    return told or _NOT_KEPT


def reused_by(movement: Movement, first: Transfer | None) -> str:
    """The facts in which a movement differs from the transfer that has its key, where that can be read."""
    return differing({} if first is None else facts_of_transfer(first), facts_of_movement(movement))


def reused_by_another(movement: Movement, first: Movement) -> str:
    """The facts in which a movement differs from its key's first movement, which may not be posted."""
    return differing(facts_of_movement(first), facts_of_movement(movement))


def facts_of_award(award: Award) -> Facts:
    facts = {"member_id": award.member_id, "country": award.country, "program": award.program}
    explanation = _explanation(award.explanation)
    if isinstance(explanation, Calculated):
        return facts | _of_transaction(explanation) | {"occurred_at": award.occurred_at}
    return facts | _of_explanation(explanation, award.points)


def facts_of_transfer(transfer: Transfer) -> Facts:
    facts = {"member_id": transfer.member_id, "program": transfer.program}
    explanation = _explanation(transfer.explanation)
    if isinstance(explanation, Calculated):
        return facts | _of_transaction(explanation) | {"occurred_at": transfer.occurred_at}
    return facts | _of_explanation(explanation, transfer.points)


def facts_of_movement(movement: Movement) -> Facts:
    """Empty for a capture and a release: their keys belong to holds."""
    facts = {"member_id": movement.member_id, "program": movement.program}
    match movement:
        case Spend():
            money = {"money": movement.tender.money} if movement.tender else {}
            return facts | {_REQUEST: "a spend", "points": movement.points, "reason": movement.reason} | money
        case Reserve():
            return facts | {_REQUEST: "a hold", "points": movement.points, "reason": movement.reason}
        case Adjustment():
            return facts | {_REQUEST: "an adjustment", "points": movement.points, "reason": movement.reason}
        case Reversal():
            points = {"points": movement.part} if isinstance(movement.part, int) else {}
            return facts | {_REQUEST: "a reversal", "transfer": movement.reverses, "reason": movement.reason} | points
        case _:
            return {}


def _of_explanation(explanation: Explanation | None, points: int) -> Facts:
    match explanation:
        case Granted(reason=reason):
            return {_REQUEST: "an award of points", "points": points, "reason": reason}
        case Spent(reason=reason):
            paid = {} if explanation.money is None else {"money": Decimal(explanation.money)}
            return {_REQUEST: "a spend", "points": -points, "reason": reason} | paid
        case Held(held=held, reason=reason):
            return {_REQUEST: "a hold", "points": held, "reason": reason}
        case Adjusted(reason=reason):
            return {_REQUEST: "an adjustment", "points": points, "reason": reason}
        case Reversed(of=key, reason=reason):
            return {_REQUEST: "a reversal", "transfer": key, "reason": reason}
        case _:
            return {_REQUEST: "another movement"}


def _of_transaction(explanation: Calculated) -> Facts:
    entries = {name: entry for name, entry, _ in explanation.factors}
    named = {} if explanation.transaction is None else {"transaction": explanation.transaction}
    redeemed = {} if explanation.redemption is None else {"redemption": explanation.redemption}
    return (
        named
        | redeemed
        | {
            _REQUEST: "an award for a transaction",
            "amount": Decimal(explanation.amount),
            "currency": explanation.currency,
            "vertical": entries.get("vertical"),
            "payment_type": entries.get("cashless"),
        }
    )


def _explanation(text: bytes) -> Explanation | None:
    try:
        return read(text)
    except SetAside:  # of a version to come
        return None


def _text(fact: object) -> str:
    return repr(fact) if isinstance(fact, str) else str(fact)
