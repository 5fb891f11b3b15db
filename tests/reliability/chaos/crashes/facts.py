"""The transactions of a trial, each under names that hold its mark. Pure."""

import json
from typing import Any

from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import Completed, Event, read_transaction
from abacus.ledger.types.award_envelope import Award
from abacus.platform.kafka.publisher import StreamMessage
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER
from tests.support.house import completed


def paid(mark: str, who: str, number: int, amount: str = "10.00", **changes: Any) -> dict[str, Any]:
    names = {"member_id": f"{mark}-{who}", "transaction_id": f"{mark}-{number}"}
    return completed(number, amount=amount, **{**names, **changes})


def refund_of(transaction: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A refund of the whole transaction."""
    name = transaction["transaction_id"]
    return transaction | {"type": "transaction.refunded", "refund_id": f"R-{name}"} | changes


def cancelled(mark: str, who: str, number: int) -> dict[str, Any]:
    """An event that a card lists with a fixed number of points."""
    return paid(mark, who, number, type="booking.cancelled_by_driver")


def body_of(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts).encode()


def message_of(facts: dict[str, Any] | bytes) -> StreamMessage:
    if isinstance(facts, bytes):
        return StreamMessage(b"", facts)
    return StreamMessage(facts["member_id"].encode(), body_of(facts))


def award_of(book: CardBook, facts: dict[str, Any], **changes: Any) -> Award:
    """The award that the pure calculation gives for the facts."""
    transaction, calculator = read_transaction(body_of(facts)), Calculator(book)
    assert isinstance(transaction, Completed | Event)
    award = calculator.award(transaction, calculator.card_for(transaction), BASE_TIER)
    assert award is not None
    return award._replace(**changes)
