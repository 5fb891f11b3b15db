"""Rechecking many transfers reports the same faults, word for word, as recomputing each."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.ledger.types.transfer import Transfer
from abacus.proof.decide.recheck import Recheck
from abacus.proof.decide.recompute import recompute
from tests.proof.explained import EARNED, FACTORS, FIXED, explained, factors, posted
from tests.support.cards import BOOK, CANCELLED, LUNCH

amounts = st.integers(0, 10**9).map(lambda cents: f"{cents // 100}.{cents % 100:02}")
kinds = st.fixed_dictionaries(
    {
        "amount": amounts,
        "vertical": st.sampled_from(["food", "rides"]),
        "payment_type": st.sampled_from(["wallet", "cash"]),
    }
)
tiers = st.sampled_from(["member", "silver", "platinum"])


@given(st.lists(st.tuples(kinds, tiers, st.integers(-1, 1)), min_size=1, max_size=10))
def test_right_and_wrong_points(each: list[tuple[dict[str, str], str, int]]) -> None:
    recheck = Recheck(BOOK)
    for facts, tier, off in each:
        transfer = posted(LUNCH | facts, tier=tier)
        wrong = transfer._replace(points=transfer.points + off)
        assert recheck(wrong) == recompute(wrong, BOOK)
        assert (recheck(wrong) is None) == (off == 0)


@pytest.mark.parametrize(
    "transfer",
    [
        FIXED,
        EARNED._replace(kind="expire"),  # type: ignore[arg-type]  # as Postgres gives it
        EARNED._replace(points=181),
        explained(EARNED, amount="15.01"),
        explained(EARNED, amount="fifteen"),
        explained(EARNED, amount="NaN"),
        explained(EARNED, card="SG@8"),
        explained(EARNED, card="SG@99"),
        explained(EARNED, currency="EUR"),
        explained(EARNED, product="181.00"),
        explained(EARNED, rounding="ceil"),
        explained(EARNED, factors=factors(0, "vertical", "food", "3")),
        explained(EARNED, factors=factors(3, "tier", "emperor", "3")),
        explained(EARNED, factors=FACTORS[:3]),
        explained(EARNED, factors=...),
        explained(EARNED, points=...),
        explained(EARNED, more="than calculating writes"),
        explained(FIXED, card="SG@8"),
        EARNED._replace(explanation=b""),
        EARNED._replace(explanation=b"\xff"),
        EARNED._replace(explanation=b"[]"),
        EARNED._replace(explanation=EARNED.explanation.replace(b"15.00", b"15.0")),
        EARNED._replace(explanation=EARNED.explanation.replace(b'{"amount":"', b"")),
    ],
    ids=lambda transfer: transfer.explanation.decode(errors="replace")[:100],
)
def test_whatever_stands_there(transfer: Transfer) -> None:
    recheck = Recheck(BOOK)
    assert recheck(EARNED) is None  # its rate is known by now
    for each in (transfer, explained_compactly(transfer)):
        assert recheck(each) == recompute(each, BOOK)


def explained_compactly(transfer: Transfer) -> Transfer:
    """The transfer with its explanation in the compact form that calculating writes."""
    try:
        explanation: Any = json.loads(transfer.explanation)
    except ValueError:
        return transfer
    return transfer._replace(explanation=json.dumps(explanation, separators=(",", ":")).encode())


def test_it_can_be_sent_to_another_process() -> None:
    recheck = Recheck(BOOK)
    recheck(EARNED)
    sent = pickle.loads(pickle.dumps(recheck))  # noqa: S301  # it was written a moment ago
    for transfer in (EARNED, FIXED, posted(CANCELLED), EARNED._replace(points=1)):
        assert sent(transfer) == recheck(transfer)
