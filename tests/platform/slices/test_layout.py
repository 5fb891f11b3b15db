"""The slice of a member: the same for ever."""

from hypothesis import given
from hypothesis import strategies as st

from abacus.platform.slices import MOST, SliceMap


@given(st.text(), st.integers(1, MOST))
def test_the_hash_is_stable(member_id: str, slices: int) -> None:
    if any(0xD800 <= ord(each) <= 0xDFFF for each in member_id):
        return
    assert 0 <= SliceMap(slices).slice_of(member_id) < slices


def test_nobody_moves_with_a_new_version() -> None:
    """These numbers are kept in ledgers: another hash would look for members where they are not."""
    assert [SliceMap(32).slice_of(each) for each in ("bob", "ann", "m00001", "bøb", "erased-0")] == [24, 13, 23, 16, 24]
