"""The pace of a channel: the setting, and the turns that it gives."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.pace import DEFAULT, read_rates
from abacus.platform.pace.decide.pace import LOOK_AHEAD, Pace, slots

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
MS = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("text", "hour", "step"),
    [
        ("sns=50/s", 0, 20 * MS),
        ("sns=50/s@8-20,sns=5/s", 8, 20 * MS),
        ("sns=50/s@8-20,sns=5/s", 19, 20 * MS),
        ("sns=50/s@8-20,sns=5/s", 20, 200 * MS),
        ("sns=50/s@8-20, sns=5/s,", 7, 200 * MS),
        ("sns=5/s,sns=50/s@8-20", 12, 200 * MS),  # the first counts
        ("sns=0/s@22-7,sns=60/m", 23, None),
        ("sns=0/s@22-7,sns=60/m", 0, None),
        ("sns=0/s@22-7,sns=60/m", 7, 1000 * MS),
        ("sns=1/s@0-12,sns=2/s@12-24", 23, 500 * MS),
        ("sns=4/h", 3, timedelta(minutes=15)),
        ("log=1/s", 3, 20 * MS),  # not named, so as it is by default
        ("", 3, 20 * MS),
    ],
)
def test_the_rate_of_an_hour(text: str, hour: int, step: timedelta | None) -> None:
    pace = Pace(read_rates(text)[ChannelName.SNS], ZoneInfo("UTC"))
    assert pace.step(NOON.replace(hour=hour, minute=59)) == step


def test_hours_are_those_of_the_zone() -> None:
    pace = Pace(read_rates("sns=1/s@8-20,sns=0/s")[ChannelName.SNS], ZoneInfo("Asia/Singapore"))
    assert pace.step(datetime(2026, 7, 1, 0, 0, tzinfo=UTC)) == timedelta(seconds=1)  # eight o'clock there
    assert pace.step(NOON) is None


def test_all_defaults_are_there() -> None:
    assert set(DEFAULT) == set(ChannelName) == set(read_rates(""))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sns", "'sns': entries like sns=50/s or sns=50/s@8-20, separated by commas, are needed"),
        ("sns=50", "'sns=50': entries like"),
        ("sns=-1/s", "'sns=-1/s': entries like"),
        ("sns=1.5/s", "'sns=1.5/s': entries like"),
        ("sns=50/d", "'sns=50/d': entries like"),
        ("sns=50/s@8", "'sns=50/s@8': entries like"),
        ("fax=50/s", f"'fax=50/s': there is no channel 'fax'; there are {', '.join(ChannelName)}"),
        ("sns=50/s@24-3,sns=1/s", "'sns=50/s@24-3': hours go from 0-23 to 1-24"),
        ("sns=50/s@8-25,sns=1/s", "'sns=50/s@8-25': hours go from"),
        ("sns=50/s@8-8,sns=1/s", "'sns=50/s@8-8': hours go from"),
        ("sns=200000/s", "'sns=200000/s': at most 100,000"),
        ("sns=50/s@8-20", "nothing is said of sns at 0:00; add an entry without hours, or sns=0/s"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(Refused) as refused:
        read_rates(text)
    assert str(refused.value).startswith(message)


def test_turns_go_on_where_the_last_one_ended() -> None:
    assert slots(20 * MS, NOON - timedelta(days=1), NOON, 5) == (5, NOON, 20 * MS)
    assert slots(20 * MS, NOON + 100 * MS, NOON, 5) == (5, NOON + 100 * MS, 20 * MS)
    assert slots(20 * MS, NOON + LOOK_AHEAD - 40 * MS, NOON, 5).turns == 3
    assert slots(20 * MS, NOON + LOOK_AHEAD + 20 * MS, NOON, 5).turns == 0


def test_a_channel_that_was_slower_an_hour_ago_is_not_held_back_by_that() -> None:
    assert slots(20 * MS, NOON + timedelta(minutes=30), NOON, 5) == (5, NOON + 20 * MS, 20 * MS)
    slow = timedelta(minutes=30)
    assert slots(slow, NOON + slow, NOON, 5).turns == 0


def test_a_clock_that_is_behind_takes_no_turns_of_the_others() -> None:
    free_at = NOON + timedelta(seconds=30)
    assert slots(20 * MS, free_at, NOON, 5)[:2] == (0, free_at)


def test_at_rate_nought_nothing_starts_and_no_turn_is_given_back() -> None:
    assert slots(None, NOON + MS, NOON, 5)[:2] == (0, NOON + MS)


@given(
    per_second=st.integers(1, 500),
    requests=st.lists(st.tuples(st.integers(0, 900), st.integers(1, 60)), min_size=1, max_size=60),
)
def test_no_second_has_more_starts_than_the_rate_whoever_asks(per_second: int, requests: list[tuple[int, int]]) -> None:
    """Several workers ask at any time, for as many turns as they like; each uses all turns that it gets."""
    step = timedelta(seconds=1) / per_second
    now, free_at, starts = NOON, NOON, []
    for pause_ms, most in requests:
        now += pause_ms * MS
        given_out = slots(step, free_at, now, most)
        starts += [given_out.first_at + turn * step for turn in range(given_out.turns)]
        free_at = given_out.first_at + given_out.turns * step
    assert all(start >= NOON for start in starts)
    assert all(then - first >= step for first, then in pairwise(starts))
