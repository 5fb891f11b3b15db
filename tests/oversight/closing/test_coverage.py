"""A seal covers a month's end if it has every transfer before it, in each slice by the stamps of that slice."""

from collections.abc import Sequence

import pytest

from abacus.oversight.closing.decide.obstacles import covers


@pytest.mark.parametrize(
    ("snapshot", "last", "expected"),
    [
        ("10:12:10", [9], True),
        ("10:12:10,11", [10], False),
        ("10:10:", [None], True),
        ("5:5: 9:9:", [4, 8], True),
        ("5:5: 9:9:", [4, 9], False),
        ("5:5: 9:9:", [5, 8], False),
        ("5:5: 9:9:", [None, 8], True),
        ("9:9:", [4, 8], False),  # of a ledger with other slices
    ],
)
def test_covering(snapshot: str, last: Sequence[int | None], *, expected: bool) -> None:
    assert covers(snapshot, last) is expected
