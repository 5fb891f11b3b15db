"""The calculator's decision on a transaction: an award, nothing, or set aside."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.core.sources import STREAM
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import Transaction
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from tests.support.cards import BOOK, CANCELLED, LUNCH, SINGAPORE, cancelled, lunch, read

REDEMPTION = "03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35"


def decided(facts: dict[str, Any], tier: str = "member") -> Award | None:
    calculator, transaction = Calculator(BOOK), read(facts)
    return calculator.award(transaction, calculator.card_for(transaction), tier)


def test_the_award_of_a_lunch() -> None:
    assert decided(LUNCH, "platinum") == Award(
        key="txn:rides:T-1001",
        member_id="bob",
        program="GRP",
        country="SG",
        kind=TransferKind.EARN,
        points=180,
        occurred_at=datetime(2026, 1, 10, 4, 30, tzinfo=UTC),
        expires_on=date(2026, 7, 31),
        activity=True,
        fingerprint=lunch().fingerprint,
        explanation=b'{"v":1,"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],'
        b'["eppf","SG","1"],["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00",'
        b'"rounding":"floor","points":180}',
        source=STREAM,
    )


@pytest.mark.parametrize("written", [REDEMPTION, REDEMPTION.upper()])
def test_a_redemption_is_named_and_changes_no_points(written: str) -> None:
    """Its explanation ends with the id; the offer's own points come with the redemption."""
    plain, named = decided(LUNCH), decided(LUNCH | {"redemption_id": written})
    assert plain is not None
    assert named is not None
    assert named.explanation == plain.explanation[:-1] + b',"redemption":"%b"}' % REDEMPTION.encode()
    assert (named.key, named.points) == (plain.key, plain.points)
    assert named.fingerprint == lunch(redemption_id=REDEMPTION).fingerprint != plain.fingerprint


def test_the_fixed_award_of_an_event() -> None:
    assert decided(CANCELLED) == Award(
        key="event:rides:booking.cancelled_by_driver:T-1001",
        member_id="bob",
        program="GRP",
        country="SG",
        kind=TransferKind.EARN,
        points=100,
        occurred_at=datetime(2026, 1, 10, 4, 30, tzinfo=UTC),
        expires_on=date(2026, 7, 31),
        activity=True,
        fingerprint=cancelled().fingerprint,
        explanation=b'{"v":1,"fixed":"booking.cancelled_by_driver","card":"SG@7","points":100}',
        source=STREAM,
    )


# A name, the facts, the member's tier; the points, the card and the program, or nothing.
AWARDED: list[tuple[str, dict[str, Any], str, tuple[int, str, str] | None]] = [
    ("as a member", LUNCH, "member", (60, "SG@7", "GRP")),
    ("half a point is cut", LUNCH | {"amount": "0.33"}, "silver", (1, "SG@7", "GRP")),
    ("nothing but a cent is still an award", LUNCH | {"amount": "0.01"}, "member", (0, "SG@7", "GRP")),
    ("an amount of nothing is still an award", LUNCH | {"amount": "0"}, "platinum", (0, "SG@7", "GRP")),
    (
        "a late one earns by the rates of its day",
        LUNCH | {"occurred_at": "2026-03-01T07:59:59.999999+08:00"},
        "member",
        (60, "SG@7", "GRP"),
    ),
    (
        "the first under the new rates",
        LUNCH | {"occurred_at": "2026-03-01T08:00:00+08:00"},
        "member",
        (90, "SG@8", "GRP"),
    ),
    (
        "another country, another program",
        LUNCH | {"country": "ID", "currency": "IDR", "amount": "150000"},
        "silver",
        (45, "ID@1", "OVO"),
    ),
    (
        "the most",
        LUNCH | {"vertical": "rides", "payment_type": "cash", "amount": "999999999999999.99999999"},
        "member",
        (10**15 - 1, "SG@7", "GRP"),
    ),
    ("a fixed award of nothing", CANCELLED | {"type": "survey.answered"}, "member", (0, "SG@7", "GRP")),
    ("a fixed award does not ask for the tier", CANCELLED, "diamond", (100, "SG@7", "GRP")),
    ("an event that the card does not list", CANCELLED | {"type": "booking.created"}, "member", None),
    ("an event that only another country's card lists", CANCELLED | {"country": "ID"}, "member", None),
]


@pytest.mark.parametrize(("facts", "tier", "outcome"), [pytest.param(*row, id=name) for name, *row in AWARDED])
def test_awarded_or_ignored(facts: dict[str, Any], tier: str, outcome: tuple[int, str, str] | None) -> None:
    award = decided(facts, tier)
    assert (award and (award.points, json.loads(award.explanation)["card"], award.program)) == outcome


# The card's days, when it happened, and the day on which its points vest with the moment at which that begins.
VESTS: list[tuple[str, int | None, str, tuple[date, str] | None]] = [
    ("at once", None, "2026-01-10T12:30:00+08:00", None),
    ("after two weeks", 14, "2026-01-10T12:30:00+08:00", (date(2026, 1, 24), "2026-01-23T16:00:00Z")),
    ("the last moment of a day there", 1, "2026-01-10T23:59:59+08:00", (date(2026, 1, 11), "2026-01-10T16:00:00Z")),
    ("the first moment of the next", 1, "2026-01-11T00:00:00+08:00", (date(2026, 1, 12), "2026-01-11T16:00:00Z")),
    ("told in UTC", 1, "2026-01-10T16:00:00Z", (date(2026, 1, 12), "2026-01-11T16:00:00Z")),
]


@pytest.mark.parametrize(("days", "at", "vests"), [pytest.param(*row, id=name) for name, *row in VESTS])
def test_when_the_points_of_a_transaction_vest(days: int | None, at: str, vests: tuple[date, str] | None) -> None:
    calculator = Calculator(CardBook([PublishedCard(replace(SINGAPORE, vests_after_days=days), 1)]))
    lunch = read(LUNCH | {"occurred_at": at})
    award = calculator.award(lunch, calculator.card_for(lunch), "member")
    expected = (None, None) if vests is None else (vests[0], datetime.fromisoformat(vests[1]))
    assert award is not None
    assert (award.vests_on, award.vests_at) == expected
    fixed = calculator.award(cancelled(), calculator.card_for(cancelled()), "member")
    assert fixed is not None
    assert (fixed.vests_on, fixed.vests_at) == (None, None)


SET_ASIDE: list[tuple[str, dict[str, Any], Reason, str]] = [
    ("currency", LUNCH | {"currency": "EUR"}, Reason.UNKNOWN_CURRENCY, "currency EUR; the card of SG is SGD"),
    ("vertical", LUNCH | {"vertical": "yachts"}, Reason.UNKNOWN_VERTICAL, "vertical 'yachts' is not on the card"),
    ("vertical in capitals", LUNCH | {"vertical": "Food"}, Reason.UNKNOWN_VERTICAL, "vertical 'Food' is not on"),
    ("payment type", LUNCH | {"payment_type": "barter"}, Reason.UNKNOWN_PAYMENT_TYPE, "payment type 'barter' is not"),
    ("country", LUNCH | {"country": "XX"}, Reason.UNKNOWN_COUNTRY, "no rate card has the scope 'XX'"),
    (
        "too early",
        LUNCH | {"occurred_at": "2025-12-31T23:59:59Z"},
        Reason.NO_CARD_IN_FORCE,
        "before the first rate card",
    ),
    ("an event too early", CANCELLED | {"occurred_at": "2000-01-01T00:00:00Z"}, Reason.NO_CARD_IN_FORCE, "SG, SG@7"),
    ("too many points", LUNCH | {"amount": "999999999999999"}, Reason.OUT_OF_RANGE, "3999999999999996 points"),
]


@pytest.mark.parametrize(("facts", "reason", "detail"), [pytest.param(*row, id=name) for name, *row in SET_ASIDE])
def test_set_aside(facts: dict[str, Any], reason: Reason, detail: str) -> None:
    with pytest.raises(SetAside) as aside:
        decided(facts)
    assert aside.value.reason is reason
    assert detail in aside.value.detail


def test_a_tier_that_the_card_does_not_price() -> None:
    with pytest.raises(SetAside, match="tier 'diamond' is not on the card of SG") as aside:
        decided(LUNCH, "diamond")
    assert aside.value.reason is Reason.UNKNOWN_TIER


transactions: st.SearchStrategy[Transaction] = st.builds(
    lunch,
    vertical=st.sampled_from(["food", "rides"]),
    payment_type=st.sampled_from(["wallet", "cash"]),
    amount=st.sampled_from(["15.00", "0.33"]),
    occurred_at=st.sampled_from(["2026-01-10T12:30:00+08:00", "2026-05-10T12:30:00+08:00"]),
) | st.builds(cancelled, occurred_at=st.sampled_from(["2026-01-10T12:30:00+08:00", "2026-05-10T12:30:00+08:00"]))


@given(st.lists(st.tuples(transactions, st.sampled_from(["member", "silver", "platinum"])), max_size=12))
@settings(deadline=None)
def test_what_was_remembered_of_one_transaction_never_colours_another(batch: list[tuple[Transaction, str]]) -> None:
    remembering = Calculator(BOOK)
    for transaction, tier in batch:
        fresh = Calculator(BOOK)
        assert remembering.award(transaction, remembering.card_for(transaction), tier) == fresh.award(
            transaction, fresh.card_for(transaction), tier
        )
