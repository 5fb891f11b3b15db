"""How sure a ratio of two revisions is."""

import random

import pytest

from benchmarks.ratio import FEWEST, Ratio, ratio_of


@pytest.mark.parametrize(
    ("before", "since", "expected"),
    [
        ([100.0], [104.0], Ratio(1.04, 1.04, 1.04, 1)),
        ([100.0, 200.0, 50.0], [110.0, 210.0, 60.0], Ratio(1.1, 1.05, 1.2, 3)),  # the machine's own speed cancels out
        ([100.0] * 6, [101.0, 102.0, 103.0, 104.0, 105.0, 99.0], Ratio(1.025, 0.99, 1.05, 6)),
        ([100.0] * 9, [90.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0, 300.0], Ratio(1.04, 1.01, 1.07, 9)),
        ([0.0, 100.0], [0.0, 100.0], None),
        ([], [], None),
    ],
)
def test_the_median_of_pairs_and_its_range(before: list[float], since: list[float], expected: Ratio | None) -> None:
    ratio = ratio_of(before, since)
    assert (ratio is None) == (expected is None)
    if ratio is not None:
        assert ratio == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ratio", "beyond"),
    [
        (Ratio(1.04, 1.01, 1.07, 9), True),
        (Ratio(0.96, 0.93, 0.99, 9), True),
        (Ratio(1.04, 0.99, 1.07, 9), False),
        (Ratio(1.04, 1.01, 1.07, FEWEST - 1), None),
    ],
)
def test_what_is_beyond_noise(*, ratio: Ratio, beyond: bool | None) -> None:
    assert ratio.beyond_noise is beyond


@pytest.mark.parametrize("rounds", [6, 9, 12, 24, 25])
def test_the_range_holds_the_true_ratio_in_nineteen_of_twenty_comparisons(rounds: int) -> None:
    rng = random.Random(rounds)
    held = 0
    for _ in range(2_000):
        before, since = ([rng.lognormvariate(0, 0.3) for _ in range(rounds)] for _ in range(2))
        ratio = ratio_of(before, since)
        held += ratio is not None and ratio.low <= 1 <= ratio.high
    assert held / 2_000 > 0.94
