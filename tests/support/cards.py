"""The cards and the lunch that the tests of this room start from."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from abacus.core.points import Multiplier, Points, Rounding
from abacus.intake.earning.decide.transaction import Completed, Event, Transaction, read_transaction
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.pricing.decide.point_value import PointValue


def times(text: str) -> Multiplier:
    return Multiplier(Decimal(text))


SINGAPORE = RateCard(
    scope="SG",
    program="GRP",
    currency="SGD",
    timezone="Asia/Singapore",
    effective_from=datetime(2026, 1, 1, tzinfo=UTC),
    eppf=times("1"),
    rounding=Rounding.FLOOR,
    expiry_months=6,
    verticals={"food": times("2"), "rides": times("1")},
    payment_types={"wallet": times("2"), "cash": times("1")},
    tiers={"member": times("1"), "silver": times("1.5"), "platinum": times("3")},
    fixed_awards={"booking.cancelled_by_driver": Points(100), "survey.answered": Points(0)},
    point_value=PointValue(Decimal("0.01")),
)
# From March on food earns three times; nothing else changes.
SPRING = replace(
    SINGAPORE, effective_from=datetime(2026, 3, 1, tzinfo=UTC), verticals={"food": times("3"), "rides": times("1")}
)
INDONESIA = replace(
    SINGAPORE,
    scope="ID",
    program="OVO",
    currency="IDR",
    timezone="Asia/Jakarta",
    eppf=times("0.00005"),
    expiry_months=3,
    fixed_awards={},
)
BOOK = CardBook([PublishedCard(SINGAPORE, 7), PublishedCard(SPRING, 8), PublishedCard(INDONESIA, 1)])

# A transaction as the contract has it.
LUNCH: dict[str, Any] = {
    "type": "transaction.completed",
    "source": "rides",
    "transaction_id": "T-1001",
    "member_id": "bob",
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": "15.00",
    "currency": "SGD",
    "occurred_at": "2026-01-10T12:30:00+08:00",
}
CANCELLED: dict[str, Any] = {
    name: LUNCH[name] for name in ("source", "transaction_id", "member_id", "country", "occurred_at")
} | {"type": "booking.cancelled_by_driver"}
REFUND: dict[str, Any] = LUNCH | {"type": "transaction.refunded", "refund_id": "R-7", "amount": "5.00"}


def message(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts).encode()


def lunch(**changed: Any) -> Completed:
    transaction = read_transaction(message(LUNCH | changed))
    assert isinstance(transaction, Completed)
    return transaction


def cancelled(**changed: Any) -> Event:
    transaction = read_transaction(message(CANCELLED | changed))
    assert isinstance(transaction, Event)
    return transaction


def read(facts: dict[str, Any]) -> Transaction:
    return read_transaction(message(facts))
