"""A filter of keys: it denies none that it has, and lets few others through."""

from hypothesis import given
from hypothesis import strategies as st

from abacus.ledger.decide.key_filter import BITS_OF_A_KEY, PART_BYTES, KeyFilter, looked

MANY = 200_000


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=50))
def test_it_denies_no_key_that_it_has(keys: list[str]) -> None:
    key_filter = KeyFilter.for_keys(len(keys))
    key_filter.add(looked(keys))
    assert key_filter.may_have(looked(keys)).all()
    assert KeyFilter.of(key_filter.parts()).may_have(looked(keys)).all(), "as it was stored"


def test_it_lets_few_others_through_and_takes_twelve_bits_a_key() -> None:
    key_filter = KeyFilter.for_keys(MANY)
    key_filter.add(looked(f"txn:rides:{number}" for number in range(MANY)))
    others = key_filter.may_have(looked(f"txn:meals:{number}" for number in range(MANY)))
    assert others.mean() < 0.008
    size = sum(map(len, key_filter.parts()))
    assert MANY * BITS_OF_A_KEY / 8 <= size < MANY * BITS_OF_A_KEY / 8 + PART_BYTES


def test_an_empty_one_has_nothing() -> None:
    assert not KeyFilter.for_keys(0).may_have(looked(["a", "b"])).any()
    assert not KeyFilter.for_keys(3).may_have(looked([])).any()


def test_a_key_has_its_bits_for_good() -> None:
    """They are stored: another version has to find them."""
    sought = looked(["txn:rides:1"])
    assert sought.chooses.tolist() == [11725277238310570104]
    assert [bits.bit_length() - 1 for bits in sought.bits[0].tolist()] == [41, 58, 4, 23, 0, 15, 62, 49]
