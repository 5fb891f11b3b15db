"""Every earn can be recomputed from its own explanation and the card that it names; every change is noticed."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.points import Rounding
from abacus.intake.earning.decide.calculate import Calculator
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.proof.decide.recompute import recompute
from tests.proof.explained import (
    EARNED,
    FACTORS,
    FIXED,
    exchanged_in,
    exchanged_out,
    explained,
    factors,
    posted,
    spent,
)
from tests.support.cards import BOOK, CANCELLED, LUNCH, SINGAPORE, lunch

amounts = st.builds(lambda cents, places: f"{cents}.{'0' * places}7", st.integers(0, 10**9), st.integers(0, 6))


@given(
    amounts,
    st.sampled_from(["food", "rides"]),
    st.sampled_from(["wallet", "cash"]),
    st.sampled_from(["member", "silver", "platinum"]),
    st.sampled_from(Rounding),
)
@settings(deadline=None)
def test_every_earn_recomputes(amount: str, vertical: str, payment: str, tier: str, rounding: Rounding) -> None:
    book = CardBook([PublishedCard(replace(SINGAPORE, rounding=rounding), 1)])
    transfer = posted(LUNCH | {"amount": amount, "vertical": vertical, "payment_type": payment}, book, tier)
    assert recompute(transfer, book) is None
    assert recompute(transfer._replace(points=transfer.points + 1), book) is not None
    assert recompute(explained(transfer, points=transfer.points + 1), book) is not None
    changed = str(int(amount.partition(".")[0]) + 1)
    assert recompute(explained(transfer, amount=changed), book) is not None


def test_every_fixed_award_recomputes() -> None:
    assert recompute(FIXED, BOOK) is None
    assert recompute(posted(CANCELLED | {"type": "survey.answered"}), BOOK) is None


CHANGED: list[tuple[str, Transfer, str]] = [
    ("points of the transfer", EARNED._replace(points=181), "explains 180 points, the transfer has 181"),
    ("points of the explanation", explained(EARNED, points=181), "points is 181, not 180"),
    ("both points", explained(EARNED, points=181)._replace(points=181), "points is 181, not 180"),
    ("points as text", explained(EARNED, points="180"), "points: Input should be a valid integer, not '180'"),
    ("amount", explained(EARNED, amount="16.00"), "product is 180.00, not 192.00"),
    ("amount and product", explained(EARNED, amount="16.00", product="192.00"), "points is 180, not 192"),
    ("amount, a digit less", explained(EARNED, amount="15.0"), "product is 180.00, not 180.0"),
    ("product", explained(EARNED, product="180.01"), "product is 180.01, not 180.00"),
    ("a factor's value", explained(EARNED, factors=factors(0, "vertical", "food", "3")), "factors is "),
    ("another vertical", explained(EARNED, factors=factors(0, "vertical", "rides", "1")), "not 90.00"),
    ("another vertical, not its value", explained(EARNED, factors=factors(0, "vertical", "rides", "2")), "factors is "),
    ("another scope's eppf", explained(EARNED, factors=factors(1, "eppf", "ID", "1")), "factors is "),
    ("another payment type", explained(EARNED, factors=factors(2, "cashless", "cash", "1")), "not 90.00"),
    ("another tier", explained(EARNED, factors=factors(3, "tier", "silver", "1.5")), "not 90.00"),
    ("a vertical that is not there", explained(EARNED, factors=factors(0, "vertical", "yachts", "2")), "'yachts'"),
    ("a factor more", explained(EARNED, factors=[*FACTORS, ["luck", "bob", "1"]]), "factors is "),
    ("factors in another order", explained(EARNED, factors=FACTORS[::-1]), "factors is "),
    ("a factor less", explained(EARNED, factors=FACTORS[:3]), "does not hold: it lists no factor tier"),
    ("no factors", explained(EARNED, factors=[]), "does not hold: it lists no factor vertical, eppf, cashless, tier"),
    ("the card's next version", explained(EARNED, card="SG@8"), "not 270.00"),
    ("another country's card", explained(EARNED, card="ID@1"), "currency is SGD, not IDR"),
    ("a card that was never published", explained(EARNED, card="SG@9"), "there is no rate card 'SG@9'"),
    ("currency", explained(EARNED, currency="USD"), "currency is USD, not SGD"),
    ("rounding", explained(EARNED, rounding="ceil"), "rounding is ceil, not floor"),
    *[(f"no {name}", explained(EARNED, **{name: ...}), name) for name in json.loads(EARNED.explanation) if name != "v"],
    ("points of a fixed award", FIXED._replace(points=99), "explains 100 points, the transfer has 99"),
    ("a fixed award's explained points", explained(FIXED, points=99), "is worth 100 on SG@7, not 99"),
    ("both points of a fixed award", explained(FIXED, points=99)._replace(points=99), "is worth 100 on SG@7, not 99"),
    ("another fixed award", explained(FIXED, fixed="survey.answered"), "is worth 0 on SG@7, not 100"),
    ("a fixed award that is not on the card", explained(FIXED, fixed="hello"), "is worth None on SG@7, not 100"),
    ("a fixed award of another card", explained(FIXED, card="ID@1"), "is worth None on ID@1, not 100"),
    ("money of a spend", spent(money="0.90"), "it paid 0.90 SGD, the points pay 0.80 SGD"),
    ("no money of a spend", spent(money=..., price=...), "it paid None SGD, the points pay 0.80 SGD"),
    ("currency of a spend", spent(currency="USD"), "it paid 0.80 USD, the points pay 0.80 SGD"),
    ("another card of a spend", spent(card="ID@1"), "the points pay 0.80 IDR"),
    ("a price below the money", spent(price="0.79"), "it paid 0.80 of 0.79"),
    ("an exchange of another programme", exchanged_out(programme="others@1"), "it is of exchange:others, the transfer"),
    ("an exchange that brought nothing", exchanged_out(theirs=0), "60 points left, 10 of them a fee, for 0 of skyways"),
    ("an exchange that is a fee", exchanged_out(fee=60), "60 points left, 60 of them a fee, for 25 of skyways"),
    ("an exchange that holds more", exchanged_out(held=1), "a exchange_out may not hold 1 more"),
    ("what came from another programme", exchanged_in(programme="others@1"), "it is of exchange:others, the transfer"),
    ("what came for nothing", exchanged_in(theirs=0), "50 points came for 0 of skyways"),
    ("what came by another card", exchanged_in(card="ID@1"), "ID@1 issues OVO, not GRP"),
    ("what came by no card", exchanged_in(card="SG@9"), "there is no rate card 'SG@9'"),
    *[(f"no {name} of a fixed award", explained(FIXED, **{name: ...}), name) for name in ("card", "points")],
]  # fmt: skip


@pytest.mark.parametrize("transfer", [exchanged_out(), exchanged_in()])
def test_what_was_exchanged_recomputes(transfer: Transfer) -> None:
    assert recompute(transfer, BOOK) is None


@pytest.mark.parametrize("price", ["10.00", "0.80", ...])
def test_a_spend_that_paid_at_a_till_recomputes(price: Any) -> None:
    assert recompute(spent(price=price), BOOK) is None


@pytest.mark.parametrize(("transfer", "fault"), [pytest.param(*row, id=name) for name, *row in CHANGED])
def test_what_was_changed_is_found(transfer: Transfer, fault: str) -> None:
    verdict = recompute(transfer, BOOK)
    assert verdict is not None
    assert fault in verdict


HOSTILE: dict[str, list[Any]] = {
    "card": [None, 7, [], {}, "SG"],
    "factors": [None, 1, {}, [], [1], [["vertical"]], [[[], "food", "2"]], factors(0, "vertical", [], "2")],
    "fixed": [None, [], {}],
    "amount": [None, [], "fifteen", "NaN", "sNaN", "Infinity", "-Infinity", "1e5000", "1e999999", "-1e" + "9" * 18],
}


BROKEN: list[tuple[str, bytes]] = [
    ("nothing", b""),
    ("not JSON", b"points"),
    ("not UTF-8", b'{"card":"\xff"}'),
    ("null", b"null"),
    ("a list", b"[]"),
    ("a number", b"180"),
    ("a string", b'"card"'),
    ("deeply nested", b"[" * 5000),
    ("an amount with more digits than any", explained(EARNED, amount="1." + "1" * 200).explanation),
    *[
        (f"{name}: {json.dumps(value)}", explained(EARNED, **{name: value}).explanation)
        for name, values in HOSTILE.items()
        for value in values
    ],
]


@pytest.mark.parametrize("explanation", [pytest.param(body, id=name) for name, body in BROKEN])
def test_a_broken_explanation_is_a_fault_and_not_the_end_of_the_check(explanation: bytes) -> None:
    verdict = recompute(EARNED._replace(explanation=explanation), BOOK)
    assert verdict is not None
    assert verdict.startswith("the explanation ")


def test_the_transfers_of_one_kind_share_no_explanation() -> None:
    """Parts that are written down once per rate must not carry one transaction's digits into another."""
    calculator = Calculator(BOOK)
    card = calculator.card_for(lunch())
    awards = [calculator.award(lunch(amount=amount), card, "member") for amount in ("1.00", "2.50", "1.00")]
    assert [json.loads(award.explanation)["product"] for award in awards if award] == ["4.00", "10.00", "4.00"]
