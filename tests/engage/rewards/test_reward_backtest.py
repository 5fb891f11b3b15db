"""What a reward would have meant: who could have afforded it and when first, and the most of it that there would have
been, day by day within limits and stock.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.asking.facts import AskingMember, KnownMembers
from abacus.engage.limits.types import Bound, Limits
from abacus.engage.rewards.admission import Admission
from abacus.engage.rewards.backtest import RewardBacktest
from abacus.engage.rewards.decide.past_stock import takes
from abacus.engage.rewards.decide.reward import ByInvitation, Reward
from abacus.engage.rewards.decide.saver import Move, Saver, moved
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.savers import Sums, savers
from abacus.signals.facts.members import SegmentFacts
from abacus.signals.facts.types import FactRegistry
from abacus.signals.segments.sets import Pair
from tests.support.rewards import around, reward

SINGAPORE: Final = ZoneInfo("Asia/Singapore")
FIRST: Final = date(2026, 1, 5)  # a Monday
COFFEE: Final = reward(price={"points": 100, "tiers": {"gold": 60}, "segments": {"regulars": 80}})
NO_LIMITS: Final = Limits()


def at(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 1, 4, hour, tzinfo=SINGAPORE) + timedelta(days=day)


def earned(day: int, member: str, points: int, tier: str = "", hour: int = 12) -> Move:
    return Move(at(day, hour), member, points, tier)


async def regulars(pairs: Collection[Pair]) -> Mapping[Pair, bool]:
    return {pair: pair[1].startswith("r") for pair in pairs}


async def over(
    of: Reward,
    had: Mapping[str, int],
    moves: Sequence[Move],
    *,
    codes: int | None = None,
    share: int = 100,
    days: int = 7,
) -> tuple[RewardBacktest, Sums]:
    facts: FactRegistry[AskingMember] = FactRegistry(SegmentFacts(regulars), KnownMembers())
    with savers() as memory:
        tested = RewardBacktest(
            Offered(of, around()), Admission(regulars, facts), memory, codes=codes, share=share, first=FIRST
        )
        tested.open([Saver(member, "member", points, points) for member, points in had.items()])
        for move in moves:  # a page is any part of them
            await tested.take([move])
        await tested.reach(FIRST + timedelta(days=days - 1))
        return tested, memory.sums()


def lines(tested: RewardBacktest) -> list[tuple[int, str, int, int, int]]:
    """With the days of January counted from the first."""
    return [((each.day - FIRST).days + 1, *each[1:]) for each in tested.lines()]


MOVES: Final = [
    earned(1, "bob", 50),
    earned(1, "ann", 250, hour=13),
    earned(2, "bob", 60, hour=9),
    earned(3, "gus", 130, "gold"),
    earned(3, "rex", 80, hour=14),
]


@pytest.mark.parametrize(
    ("limits", "codes", "expected", "gone", "without"),
    [
        (
            NO_LIMITS,
            None,
            [(1, "member", 1, 2, 200), (2, "member", 1, 1, 100), (3, "gold", 1, 2, 120), (3, "member", 1, 1, 80)],
            None,
            0,
        ),
        (
            Limits(overall=Bound(runs=3)),
            None,
            [(1, "member", 1, 2, 200), (2, "member", 1, 1, 100), (3, "gold", 1, 0, 0), (3, "member", 1, 0, 0)],
            2,
            2,
        ),
        (
            NO_LIMITS,
            2,
            [(1, "member", 1, 2, 200), (2, "member", 1, 0, 0), (3, "gold", 1, 0, 0), (3, "member", 1, 0, 0)],
            1,
            3,
        ),
        (
            Limits(member=Bound(runs=1)),
            None,
            [(1, "member", 1, 1, 100), (2, "member", 1, 1, 100), (3, "gold", 1, 1, 60), (3, "member", 1, 1, 80)],
            None,
            0,
        ),
        (
            Limits(member_day=Bound(runs=1)),
            None,
            [
                *((1, "member", 1, 1, 100), (2, "member", 1, 2, 200), (3, "gold", 1, 1, 60), (3, "member", 1, 1, 80)),
                (4, "gold", 0, 1, 60),
            ],
            None,
            0,
        ),
        (
            Limits(day=Bound(runs=1)),
            None,
            [
                *((1, "member", 1, 1, 100), (2, "member", 1, 1, 100), (3, "gold", 1, 0, 0), (3, "member", 1, 1, 100)),
                *((4, "gold", 0, 1, 60), (5, "gold", 0, 1, 60), (6, "member", 0, 1, 80)),
            ],
            None,
            0,
        ),
    ],
)
async def test_known_answers(
    limits: Limits,
    codes: int | None,
    expected: list[tuple[int, str, int, int, int]],
    gone: int | None,
    without: int,
) -> None:
    """Who waits the longest has the next piece."""
    tested, sums = await over(replace(COFFEE, limits=limits), {}, MOVES, codes=codes)
    assert lines(tested) == expected
    assert (sums.could, sums.without) == (4, without)
    assert (None if tested.gone_on is None else (tested.gone_on - FIRST).days + 1) == gone


async def test_who_has_the_points_already_can_afford_it_on_the_first_day() -> None:
    tested, sums = await over(COFFEE, {"ann": 350, "bob": 99, "rita": 80}, [])
    assert lines(tested) == [(1, "member", 2, 4, 380)]
    assert sums == Sums(2, 2, 0, 0, 3)


async def test_a_day_on_which_it_is_not_there_is_waited_for() -> None:
    """On Monday it is not there; ann spends what she has before Tuesday, and bob waits."""
    there = replace(COFFEE, weekdays=frozenset({1, 2}))
    moves = [earned(1, "ann", 150), earned(1, "bob", 150), Move(at(1, 20), "ann", -150, "")]
    tested, sums = await over(there, {}, moves)
    assert lines(tested) == [(2, "member", 1, 1, 100)]
    assert (sums.could, sums.had) == (1, 1)


async def test_who_it_is_not_for_is_told_apart() -> None:
    gold: Any = {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}
    moves = [earned(1, "ann", 150, "member"), earned(1, "gus", 150, "gold"), earned(2, "ann", 1, "gold")]
    tested, sums = await over(replace(COFFEE, when=gold), {"bob": 500}, moves)
    assert lines(tested) == [(1, "gold", 1, 2, 120), (2, "gold", 1, 2, 120)]
    assert (sums.could, sums.others) == (2, 1)


async def test_an_invitation_is_taken_once() -> None:
    invited = replace(COFFEE, delivery=ByInvitation("lunch_invited"))
    tested, sums = await over(invited, {"ann": 900}, [earned(2, "ann", 100)])
    assert (lines(tested), sums.most) == ([(1, "member", 1, 1, 100)], 1)


async def test_a_take_rate_is_the_share_of_members_who_take_it() -> None:
    """All could afford it; the same members take it at every trial, and more of them at a higher rate."""
    had = {f"m{number}": 100 for number in range(400)}
    took = {}
    for share in (10, 50):
        tested, sums = await over(COFFEE, had, [], share=share, days=1)
        assert lines(tested) == [(1, "member", 400, sums.had, 100 * sums.had)]
        took[share] = {member for member in had if takes(COFFEE, member, share)}
        assert (sums.had, sums.without) == (len(took[share]), 0)
    assert took[10] < took[50]
    assert 20 <= len(took[10]) <= 60


@given(st.lists(st.integers(-300, 300), max_size=20))
def test_what_is_left_is_never_more_than_what_there_was(changes: list[int]) -> None:
    """However much was taken before, what a member really did with its points makes no debt that it did not have."""
    saver = Saver("ann")
    for change in changes:
        saver = moved(saver, Move(at(1), "ann", change, ""))
        assert min(saver.free, 0) <= saver.left <= saver.free
        pieces = max(saver.left, 0) // 100
        saver = saver._replace(left=saver.left - 100 * pieces, pieces=saver.pieces + pieces)
