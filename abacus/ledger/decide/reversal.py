"""What is taken back of a transfer: its share, and what becomes of points that are not there any more. Pure.

All refunds of a transaction together take back exactly what it earned: each takes the share that is due of everything
refunded so far, rounded down, less what those before it took; the one that completes the amount takes the rest.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, NamedTuple

import orjson

from abacus.core.errors import Reason, SetAside
from abacus.core.points import money, plain
from abacus.ledger.decide.account_with_lots import Change, Entry, Purse, put, take
from abacus.ledger.types.award import Kind
from abacus.ledger.types.movement import Decline, Declined, Refund, Reversal
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.card import OnShortfall

_GAVE: frozenset[str] = frozenset({Kind.EARN, Kind.ADJUST})


class Earlier(NamedTuple):
    """A reversal of the same transfer, before this one."""

    due: int
    expired: int
    amount: Decimal

    @classmethod
    def of(cls, transfer: Transfer) -> "Earlier":
        explanation: dict[str, Any] = orjson.loads(transfer.explanation)
        return cls(explanation["due"], explanation["expired"], money(explanation.get("amount", "0")))


class Original(NamedTuple):
    """The transfer to be taken back, with what is known of it under the lock of its account: how many points are left
    in its own lot, and how many of them lapsed.
    """

    transfer: Transfer
    left: int = 0
    lapsed: int = 0
    earlier: Sequence[Earlier] = ()

    @property
    def due_before(self) -> int:
        return sum(each.due for each in self.earlier)


def reverse(purse: Purse, original: Original | None, asked: Reversal, now: datetime) -> Change:
    """Raises `Declined` for what cannot be taken back, and `SetAside` for a refund that contradicts its transaction."""
    if original is None:
        raise Declined(Decline.NOT_REVERSIBLE, f"no transfer of this account has the key {asked.reverses}")
    transfer = original.transfer
    if transfer.kind in _GAVE and transfer.points >= 0:
        return _take_back(purse, original, asked, now)
    if transfer.kind in {Kind.SPEND, Kind.ADJUST}:
        return _give_back(purse, original, asked, now)
    raise Declined(Decline.NOT_REVERSIBLE, f"a transfer of kind {transfer.kind} cannot be taken back")


def _take_back(purse: Purse, original: Original, asked: Reversal, now: datetime) -> Change:
    account = purse.account
    due = _due(original, asked)
    may_take = due if asked.on_shortfall is OnShortfall.NEGATIVE else max(0, account.available)
    own = min(due, original.left, may_take)
    expired = min(due - min(due, original.left), original.lapsed - sum(each.expired for each in original.earlier))
    others = min(due - own - expired, may_take - own)
    explanation = {
        **_explained(original, asked, -(own + others), due),
        "own_lot": own,
        "expired": expired,
        "on_shortfall": asked.on_shortfall,
        "clipped": due - expired - own - others,
    }
    by_name = {original.transfer.seq: own} if own else {}
    return take(purse, own + others, _entry(asked, explanation, now), by_name=by_name)


def _give_back(purse: Purse, original: Original, asked: Reversal, now: datetime) -> Change:
    due = _due(original, asked)
    explanation = {**_explained(original, asked, due, due), "own_lot": 0, "expired": 0, "clipped": 0}
    return put(purse, due, asked.expires_on, _entry(asked, explanation, now), lifetime=asked.lifetime)


def _due(original: Original, asked: Reversal) -> int:
    points, before = abs(original.transfer.points), original.due_before
    match asked.part:
        case Refund() as refund:
            return max(0, _share(original, refund) - before)
        case None:
            if points and before >= points:
                raise Declined(Decline.REVERSED_ALREADY, f"all {points} points were taken back before")
            return points - before
        case int() as part:
            if part > points - before:
                raise Declined(Decline.REVERSED_ALREADY, f"{part} points; {points - before} of {points} are left")
            return part


def _share(original: Original, refund: Refund) -> int:
    """The points due of everything refunded so far."""
    explanation: dict[str, Any] = orjson.loads(original.transfer.explanation)
    if "amount" not in explanation:
        raise SetAside(Reason.INVALID, f"{original.transfer.key} was not earned by an amount, so it has no share")
    if refund.currency != explanation["currency"]:
        raise SetAside(
            Reason.UNKNOWN_CURRENCY, f"currency {refund.currency}; the transaction was in {explanation['currency']}"
        )
    amount = money(explanation["amount"])
    refunded = sum((each.amount for each in original.earlier), refund.amount)
    if refunded >= amount:
        return original.transfer.points
    return floor(original.transfer.points * Fraction(refunded) / Fraction(amount))


def _explained(original: Original, asked: Reversal, points: int, due: int) -> dict[str, Any]:
    transfer = original.transfer
    explanation: dict[str, Any] = {
        "points": points,
        "of": transfer.key,
        "of_kind": transfer.kind,
        "earned": transfer.points,
        "occurred_at": transfer.occurred_at,
        "card": asked.card,
        "due": due,
    }
    if isinstance(asked.part, Refund):
        explanation["amount"] = plain(asked.part.amount)
        explanation["currency"] = asked.part.currency
        explanation["of_amount"] = orjson.loads(transfer.explanation)["amount"]
    if asked.reason is not None:
        explanation["reason"] = asked.reason
    return explanation


def _entry(asked: Reversal, explanation: dict[str, Any], now: datetime) -> Entry:
    return Entry(
        Kind.REVERSE,
        asked.key,
        explanation,
        asked.occurred_at,
        now,
        asked.source,
        reverses=asked.reverses,
        actor=asked.actor,
    )
