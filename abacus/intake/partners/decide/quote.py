"""The body of a quote, and the award that it would become, on any day that has a card or will have one. Pure."""

from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

from pydantic import ConfigDict, Discriminator, Tag

from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction_message import Id
from abacus.intake.partners.decide.ask import (
    AskedTransaction,
    ComputedAsk,
    Considered,
    FixedAsk,
    award_for,
    consider_by,
    kind_of_ask,
    transaction_of,
)
from abacus.intake.partners.decide.partner import Partner
from abacus.ledger.types.award_envelope import Award
from abacus.pricing.decide.card import PublishedCard

_KEY: Final = "quote"  # nothing is awarded under it
_DINNER: Final[dict[str, Any]] = {
    "member_id": "bob",
    "transaction": {
        "country": "SG",
        "vertical": "food",
        "payment_type": "wallet",
        "amount": "15.00",
        "currency": "SGD",
        "occurred_at": "2026-12-02T12:30:00+08:00",
    },
}


class QuotedTransaction(AskedTransaction):
    """A transaction of any day, also one to come. It needs no id."""

    transaction_id: Id = "quote"


class ComputedQuote(ComputedAsk):
    """A transaction to be priced and not awarded."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": [_DINNER]})

    transaction: QuotedTransaction


QuoteAsk = Annotated[
    Annotated[FixedAsk, Tag("fixed")] | Annotated[ComputedQuote, Tag("computed")], Discriminator(kind_of_ask)
]


class Quote(NamedTuple):
    """The award that nobody makes, its card, and the time for which it holds."""

    award: Award
    card: PublishedCard
    at: datetime


def consider_quote(
    ask: FixedAsk | ComputedQuote, partner: Partner, calculator: Calculator, now: datetime
) -> Considered:
    """By the card that is expected at the time of the transaction. Raises `Objection`."""
    transaction = transaction_of(ask, partner) if isinstance(ask, ComputedAsk) else None
    at = transaction.occurred_at if transaction else now
    return consider_by(calculator.book.expected, ask, transaction, partner, at=at)


def quote_for(considered: Considered, calculator: Calculator, tier: str, now: datetime) -> Quote:
    """Raises `Objection` for a transaction that cannot be priced."""
    award = award_for(considered, calculator, tier, _KEY, now)
    return Quote(award, considered.card, award.occurred_at)
