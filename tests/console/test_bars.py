"""Bars say how much of a limit is used, in its own words."""

import pytest

from abacus.console.decide.bars import OVERALL, Counted, bar, bars_of
from abacus.engage.limits.decide.limit_reader import LimitWords
from abacus.engage.limits.types import MICROS, Amounts, Bound, Limits

WORDS = LimitWords("uses", "money")
TODAY = "2026-11-27"
USED = Counted(
    {OVERALL: Amounts(1200, 0, 300 * MICROS), TODAY: Amounts(20)},
    {OVERALL: Amounts(7, 0, 4 * MICROS), TODAY: Amounts(2)},
)


@pytest.mark.parametrize(
    ("limits", "today", "said"),
    [
        (Limits(), TODAY, []),
        (Limits(overall=Bound(runs=2000)), TODAY, [("uses", "1,200", "2,000", "800", 0.6, "7")]),
        (Limits(overall=Bound(cost=400 * MICROS)), TODAY, [("money", "300.00", "400.00", "100.00", 0.75, "4.00")]),
        (Limits(day=Bound(runs=40)), TODAY, [("uses today", "20", "40", "20", 0.5, "2")]),
        (Limits(day=Bound(runs=40)), "2026-11-28", [("uses today", "0", "40", "40", 0.0, "0")]),
        (Limits(day=Bound(runs=40)), None, []),
        (Limits(overall=Bound(runs=1000)), TODAY, [("uses", "1,200", "1,000", "0", 1.0, "7")]),
    ],
)
def test_the_bars_of_limits(limits: Limits, today: str | None, said: list[tuple[object, ...]]) -> None:
    bars = bars_of(limits, WORDS, USED, today)
    assert [(each.name, each.used, each.most, each.left, each.share, each.reserved) for each in bars] == said


def test_what_there_is_none_of_is_used_up() -> None:
    empty = bar("codes", 0, 0, is_low=True)
    assert (empty.share, empty.left, empty.is_low) == (1.0, "0", True)
