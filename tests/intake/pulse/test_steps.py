"""What the sums of a range say: rates a minute, and how long points took."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf

import pytest

from abacus.intake.pulse.decide.steps import Range, beats, begin_of
from abacus.intake.pulse.types import Step, Summed

NOW = datetime(2026, 7, 3, 10, 37, 30, tzinfo=UTC)


def summed(since: datetime, within_s: float, awards: int, points: int = 0) -> Summed:
    return Summed(since, within_s, awards, points)


@pytest.mark.parametrize(("range_", "steps"), [(Range.HOUR, 60), (Range.DAY, 96), (Range.WEEK, 672)])
def test_a_range_has_all_its_steps_and_ends_with_the_one_under_way(range_: Range, steps: int) -> None:
    found = beats([], range_, NOW)
    assert len(found) == steps
    assert found[0].since == range_.begins(NOW)
    assert found[-1].since <= NOW < found[-1].since + range_.step.length
    assert {after.since - before.since for before, after in pairwise(found)} == {range_.step.length}
    assert {(each.awards, each.points, each.half_s, each.nearly_all_s) for each in found} == {(0, 0, None, None)}


@pytest.mark.parametrize(("step", "begin"), [(Step.MINUTE, (37, 0)), (Step.QUARTER, (30, 0))])
def test_a_step_begins_on_the_clock(step: Step, begin: tuple[int, int]) -> None:
    at = begin_of(step, NOW)
    assert (at.minute, at.second) == begin
    assert begin_of(step, at) == at


def test_rates_are_a_minute_and_those_of_the_step_under_way_of_the_time_that_has_passed() -> None:
    minute = NOW.replace(second=0)
    before = minute - timedelta(minutes=1)
    found = beats([summed(before, 0.1, 60, 600), summed(minute, 0.1, 60, 600)], Range.HOUR, NOW)
    assert [(each.awards, each.points) for each in found[-2:]] == [(60, 600), (120, 1200)]
    quarter = begin_of(Step.QUARTER, NOW) - timedelta(minutes=15)
    [full] = [each for each in beats([summed(quarter, 0.1, 60, 600)], Range.DAY, NOW) if each.awards]
    assert (full.awards, full.points) == (4, 40)


@pytest.mark.parametrize(
    ("sums", "half", "nearly_all"),
    [
        ([(0.5, 1)], 0.5, 0.5),
        ([(0.1, 50), (2.0, 50)], 0.1, 2.0),
        ([(0.1, 49), (2.0, 51)], 2.0, 2.0),
        ([(0.1, 99), (60.0, 1)], 0.1, 0.1),
        ([(0.1, 989), (60.0, 11)], 0.1, 60.0),
        ([(60.0, 11), (0.1, 989)], 0.1, 60.0),
        ([(inf, 3)], 86400.0, 86400.0),
    ],
)
def test_points_came_within_the_first_bound_that_holds_the_share(
    sums: list[tuple[float, int]], half: float, nearly_all: float
) -> None:
    minute = NOW.replace(second=0)
    beat = beats([summed(minute, within_s, awards) for within_s, awards in sums], Range.HOUR, NOW)[-1]
    assert (beat.half_s, beat.nearly_all_s) == (half, nearly_all)


def test_countries_are_summed() -> None:
    minute = NOW.replace(second=0)
    beat = beats([summed(minute, 0.1, 3), summed(minute, 5.0, 1)], Range.HOUR, NOW)[-1]
    assert (beat.awards, beat.half_s, beat.nearly_all_s) == (8, 0.1, 5.0)
