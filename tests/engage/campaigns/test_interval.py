"""The intervals of shares are those of the books."""

import pytest

from abacus.engage.campaigns.decide.interval import difference_interval, share_interval


@pytest.mark.parametrize(
    ("of", "all_", "low", "high"), [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
)
def test_the_interval_of_a_share(of: int, all_: int, low: float, high: float) -> None:
    """Cases of Newcombe's paper on single proportions, Wilson's method."""
    interval = share_interval(of, all_)
    assert interval is not None
    assert list(interval) == pytest.approx([low, high], abs=1e-4)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 20), 0.6791, 1.0)],
)
def test_the_interval_of_a_difference(first: tuple[int, int], second: tuple[int, int], low: float, high: float) -> None:
    """Cases of Newcombe's paper on the difference of proportions, the method of square and add."""
    interval = difference_interval(*first, *second)
    assert interval is not None
    assert list(interval) == pytest.approx([low, high], abs=1e-4)


def test_without_any_case_nothing_is_known() -> None:
    assert share_interval(0, 0) is None
    assert difference_interval(1, 2, 0, 0) is None
