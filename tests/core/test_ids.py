"""Keys, public ids and fingerprints. They are kept for ever, so the expected values stand here as they were issued."""

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.ids import award_id, event_key, fingerprint, refund_key, transaction_key


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (transaction_key("rides", "T-1001"), "txn:rides:T-1001"),
        (refund_key("rides", "R-7"), "refund:rides:R-7"),
        (event_key("rides", "booking.cancelled_by_driver", "T-1"), "event:rides:booking.cancelled_by_driver:T-1"),
        (transaction_key("meals", "2026:01:Ω"), "txn:meals:2026:01:Ω"),
    ],
)
def test_keys(key: str, expected: str) -> None:
    assert key == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("txn:rides:T-1001", UUID("c93a770a-f61c-5568-b2a8-c329b6d783b0")),
        ("txn:rides:T-1002", UUID("aa356e2c-47cc-5ff3-a943-d7fb142cbcc0")),
        ("event:rides:booking.cancelled_by_driver:Ω", UUID("a942af2e-d3fc-5180-85cb-53ea8e0438ee")),
    ],
)
def test_the_public_id_depends_on_the_key_alone(key: str, expected: UUID) -> None:
    assert award_id(key) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (("a", "b"), "065ab5741cdfad44687cf119c1eb4ec9"),
        (("ab",), "3dc9ae220222e2e156b2a5abb60d01c7"),
        (("a", "", "b"), "9d4a4bf134719d820cdd5d0a62d91a0b"),
        (("Ω", "😀"), "bfae612f44ade4dbb0ba13b7674387a3"),
    ],
)
def test_fingerprints(facts: tuple[str, ...], expected: str) -> None:
    assert fingerprint(facts) == expected


# No fact holds a control character: the readers of facts refuse those.
facts_lists = st.lists(st.text("0:1a", max_size=4), min_size=1, max_size=4)


@given(facts_lists, facts_lists)
@settings(max_examples=300, deadline=None)
def test_only_equal_facts_have_equal_fingerprints(one: list[str], other: list[str]) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (one == other)
