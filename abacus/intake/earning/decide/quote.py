"""What a transaction would earn, on any day. Pure."""

import json
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError

from abacus.core.errors import Refused, SetAside
from abacus.intake.earning.decide import transaction_message as messages
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import COMPLETED, Transaction, transaction_of
from abacus.ledger.types.award_envelope import Award
from abacus.platform.validation import first_fault
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard


class Sale(NamedTuple):
    """The facts of a transaction that count for its points. Without a currency it is the card's."""

    country: str
    vertical: str
    payment_type: str
    amount: str
    currency: str | None
    tier: str
    at: datetime


class Quoted(NamedTuple):
    """The award, and the card that it follows from."""

    award: Award
    published: PublishedCard


class BadSale(Refused):
    """A fact of the sale is not as it must be."""

    def __init__(self, field: str, fault: str) -> None:
        super().__init__(f"{field}: {fault}")
        self.field = field
        self.fault = fault


def quoted(book: CardBook, sale: Sale) -> Quoted:
    """Raises `BadSale`, and `Refused` where no card gives such a transaction points."""
    try:
        published = book.expected(sale.country, sale.at)
        award = Calculator(book).award(_transaction(sale, published), published, sale.tier)
    except SetAside as fault:
        raise Refused(fault.detail) from None
    assert award is not None  # noqa: S101  # only an event may come to nothing
    return Quoted(award, published)


def _transaction(sale: Sale, published: PublishedCard) -> Transaction:
    facts = {
        "type": COMPLETED,
        "source": "quote",
        "transaction_id": "quote",
        "member_id": "quote",
        "country": sale.country,
        "vertical": sale.vertical,
        "payment_type": sale.payment_type,
        "amount": sale.amount,
        "currency": sale.currency or published.card.currency,
        "occurred_at": sale.at.isoformat(),
    }
    try:
        return transaction_of(messages.Completed.model_validate_json(json.dumps(facts)))
    except ValidationError as error:
        field, _, fault = first_fault(error).partition(": ")
        raise BadSale(field, fault) from None
