"""The outcome that each message must have, worked out without the product: from the documents, in fractions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, Final
from zoneinfo import ZoneInfo

from abacus.core.errors import Reason
from abacus.ledger.types.account import AccountId
from tests.reliability.simulation.cards import DOCUMENTS, TIERS

COMPLETED: Final = "transaction.completed"

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Earns:
    """Points under a key. Of messages with one key and different facts one earns, and the others are conflicts."""

    key: str
    facts: tuple[object, ...]
    account: AccountId
    country: str
    points: frozenset[int]  # more than one where a promotion came in between
    occurred_at: datetime
    expires_on: date


@dataclass(frozen=True)
class Aside:
    """Nothing but an item in the quarantine, for this reason."""

    reason: Reason


@dataclass(frozen=True)
class Ignored:
    """Nothing at all."""


Verdict = Earns | Aside | Ignored


def earns(document: Document) -> Earns | Ignored:
    """The verdict on a good message."""
    occurred_at = datetime.fromisoformat(document["occurred_at"])
    card = _in_force(document["country"], occurred_at)
    account = (document["member_id"], card["program"])
    if document["type"] == COMPLETED:
        key = f"txn:{document['source']}:{document['transaction_id']}"
        facts: tuple[object, ...] = (
            *(document[name] for name in ("member_id", "country", "vertical", "payment_type", "currency")),
            Fraction(document["amount"]),
            occurred_at,
        )
        points = frozenset(points_of(document, card, tier) for tier in TIERS.get(account, ("member",)))
    elif document["type"] in card["fixed_awards"]:
        key = f"event:{document['source']}:{document['type']}:{document['transaction_id']}"
        facts = (document["member_id"], document["country"], occurred_at)
        points = frozenset((card["fixed_awards"][document["type"]],))
    else:
        return Ignored()
    return Earns(key, facts, account, card["scope"], points, occurred_at, good_until(occurred_at, card))


def points_of(document: Document, card: Document, tier: str) -> int:
    product = (
        Fraction(document["amount"])
        * Fraction(card["verticals"][document["vertical"]])
        * Fraction(card["eppf"])
        * Fraction(card["payment_types"][document["payment_type"]])
        * Fraction(card["tiers"][tier])
    )
    if card["rounding"] == "floor":
        return product.__floor__()
    if card["rounding"] == "ceil":
        return product.__ceil__()
    return (product + Fraction(1, 2)).__floor__()


def _in_force(country: str, at: datetime) -> Document:
    begun = [card for card in DOCUMENTS[country] if datetime.fromisoformat(card["effective_from"]) <= at]
    return max(begun, key=lambda card: datetime.fromisoformat(card["effective_from"]))


def good_until(occurred_at: datetime, card: Document) -> date:
    """The day before the first of the month after the Nth month from then."""
    there = occurred_at.astimezone(ZoneInfo(card["timezone"]))
    months = there.month + card["expiry_months"]
    return date(there.year + months // 12, months % 12 + 1, 1) - timedelta(days=1)
