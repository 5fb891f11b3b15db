"""Transfers with real explanations, and ways to change these, for the tests that recompute."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from abacus.intake.earning.decide.calculate import Calculator
from abacus.ledger.decide.account_with_lots import AccountWithLots
from abacus.ledger.decide.spend import capture, reserve, spend
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.movement import Spend, Tender
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from tests.ledger.moves import endless, exchange_in, exchange_out
from tests.support.cards import BOOK, CANCELLED, LUNCH, read

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def posted(facts: dict[str, Any], book: CardBook = BOOK, tier: str = "platinum") -> Transfer:
    calculator, transaction = Calculator(book), read(facts)
    award = calculator.award(transaction, calculator.card_for(transaction), tier)
    assert award is not None
    return apply(Account.opened((award.member_id, award.program), award.country), award, NOW)[1]


def explained(transfer: Transfer, **changed: Any) -> Transfer:
    explanation = {**json.loads(transfer.explanation), **changed}
    return transfer._replace(explanation=json.dumps({k: v for k, v in explanation.items() if v is not ...}).encode())


EARNED, FIXED = posted(LUNCH), posted(CANCELLED)
FACTORS = json.loads(EARNED.explanation)["factors"]


def spent(**changed: Any) -> Transfer:
    """80 points that paid at a till, by a card."""
    tender = Tender(Decimal("0.80"), "SGD", "SG@7", Decimal("10.00"))
    order = Spend("api:acme:1", "bob", "GRP", "SG", "0" * 16, 80, "a lunch", "acme", "partner:acme", tender)
    account = Account.opened(("bob", "GRP"), "SG")._replace(balance=100)
    return explained(spend(AccountWithLots(account), order, NOW).transfer, **changed)


def exchanged_out(**changed: Any) -> Transfer:
    """60 points that left for a partner's programme."""
    account = Account.opened(("bob", "GRP"), "SG")._replace(balance=100)
    placed = reserve(AccountWithLots(account), endless(60), NOW)
    return explained(capture(placed.after, placed.hold, exchange_out(), NOW).transfer, **changed)


def exchanged_in(**changed: Any) -> Transfer:
    """50 points that came from one."""
    award = exchange_in(50, card="SG@7")
    return explained(apply(Account.opened(("bob", "GRP"), "SG"), award, NOW)[1], **changed)


def factors(index: int, *factor: Any) -> list[Any]:
    return [*FACTORS[:index], list(factor), *FACTORS[index + 1 :]]
