"""How many times as large something came out in one revision as in another, and how sure that is. Pure."""

import statistics
from collections.abc import Sequence
from math import comb
from typing import Final, NamedTuple

FEWEST: Final = 6  # rounds; of fewer not even the range of all holds the median so surely
_DOUBT: Final = 0.05


class Ratio(NamedTuple):
    """The median of the rounds' ratios, and the range that holds the true median in 19 of 20 comparisons; with fewer
    than six rounds the range of all of them.
    """

    median: float
    low: float
    high: float
    rounds: int

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"

    @property
    def beyond_noise(self) -> bool | None:
        """Whether the range leaves out "as large as before"; None with too few rounds to say."""
        return None if self.rounds < FEWEST else not self.low <= 1 <= self.high


def ratio_of(before: Sequence[float], since: Sequence[float]) -> Ratio | None:
    """The ratio by rounds, each of a value of either, measured one right after the other; None where one was 0."""
    if not before or not all(before):
        return None
    ratios = sorted(new / old for old, new in zip(before, since, strict=True))
    out = _left_out(len(ratios))
    return Ratio(statistics.median(ratios), ratios[out], ratios[-1 - out], len(ratios))


def _left_out(values: int) -> int:
    """How many of so many sorted values can be left out at either end, so that the rest holds the median surely
    enough: each value lies on either side of it with the same chance.
    """
    out, doubt = 0, 2 / 2**values
    while out < values // 2 and doubt + 2 * comb(values, out + 1) / 2**values <= _DOUBT:
        out += 1
        doubt += 2 * comb(values, out) / 2**values
    return out
