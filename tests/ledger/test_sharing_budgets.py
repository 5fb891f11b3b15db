"""Budgets of partners handed out to slices: in whichever order things happen, slices award what one ledger would, and
refuse what one would.
"""

from datetime import date, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.ledger.decide.allowance import Allowance, OverLimit
from abacus.ledger.decide.budgets import added_up, counted, handed_out, opened, returned, with_all
from abacus.ledger.types.limits import Limits

TODAY: Final = date(2026, 6, 1)
SLICES: Final = 3


class House:
    """Three slices that award points of one partner, and what one ledger would say of the same."""

    def __init__(self, limits: Limits) -> None:
        self.day = TODAY
        self.whole = Allowance(limits, 0, date.min, 0)
        self.parts = dict.fromkeys(range(SLICES), opened(self.whole))
        self.one = self.whole

    def award(self, number: int, points: int) -> bool:
        """Whether the slice awards it: from what it has in hand, or after it was handed more, or out of the whole."""
        if not self._spend(number, self.parts[number], points):
            handed = handed_out(self.whole, self.parts[number], points, 8, self.day)
            if handed is not None:
                self.whole, self.parts[number] = handed
                assert self._spend(number, self.parts[number], points), "it has in hand what it was handed"
                return True
            self.count()
            others = [part for at, part in self.parts.items() if at != number]
            if not self._spend(number, with_all(self.parts[number], others), points):
                return False
            self.whole, self.parts[number] = returned(self.parts[number])
        return True

    def give_back(self, number: int, points: int) -> int:
        """Points of today's awards of that slice, as far as there are any."""
        part = self.parts[number].on(self.day)
        points = min(points, part.used_that_day)
        self.parts[number] = part.given_back(points, self.day)
        self.one = self.one.on(self.day).given_back(points, self.day)
        return points

    def limit(self, limits: Limits) -> None:
        self.whole = self.whole._replace(limits=limits)
        self.one = self.one._replace(limits=limits)
        self.count()

    def count(self) -> None:
        self.parts = counted(self.whole, self.parts, self.day)
        self.whole = added_up(self.whole, list(self.parts.values()))

    def _spend(self, number: int, part: Allowance, points: int) -> bool:
        try:
            self.parts[number] = part.on(self.day).after(points, 0)
        except OverLimit:
            return False
        return True


LIMIT: Final = st.none() | st.integers(0, 300)
LIMITS: Final = st.builds(Limits, per_award=st.none(), per_member_day=st.none(), per_day=LIMIT, in_total=LIMIT)
PLACE: Final = st.integers(0, SLICES - 1)
POINTS: Final = st.integers(1, 120)
STEP: Final = st.one_of(
    st.tuples(st.just("award"), PLACE, POINTS),
    st.tuples(st.just("award"), PLACE, POINTS),
    st.tuples(st.just("give back"), PLACE, POINTS),
    st.tuples(st.just("limit"), LIMITS),
    st.tuples(st.just("tomorrow")),
)


@given(LIMITS, st.lists(STEP, max_size=40))
def test_slices_award_what_one_ledger_would(limits: Limits, steps: list[tuple[object, ...]]) -> None:
    house = House(limits)
    for step in steps:
        match step:
            case ("award", int(number), int(points)):
                before = house.one.on(house.day)
                try:
                    house.one, allowed = before.after(points, 0), True
                except OverLimit:
                    allowed = False
                assert house.award(number, points) is allowed
            case ("give back", int(number), int(points)):
                house.give_back(number, points)
            case ("limit", Limits() as changed):
                house.limit(changed)
            case ("tomorrow",):
                house.day += timedelta(days=1)
        together = added_up(house.whole, list(house.parts.values()))
        assert together.used == house.one.used
        if together.day == house.one.day:
            assert together.used_that_day == house.one.used_that_day


def test_a_slice_that_gives_back_below_a_lowered_limit_awards_it_once() -> None:
    """Two slices have awarded 400 each when the limit falls to 500. After 350 are given back 50 are left."""
    house = House(Limits(in_total=1000))
    assert house.award(0, 400)
    assert house.award(1, 400)
    house.limit(Limits(in_total=500))
    assert house.give_back(0, 350) == 350
    assert not house.award(0, 51)
    assert not house.award(1, 51)
    assert house.award(1, 50)
    assert not house.award(0, 1)


def test_what_was_in_hand_yesterday_is_worth_nothing_today() -> None:
    house = House(Limits(per_day=100))
    assert house.award(0, 1)
    assert house.parts[0].gone_that_day < 100, "it has more in hand"
    house.day += timedelta(days=1)
    assert house.parts[0].on(house.day).gone_that_day == 100
    assert house.award(1, 100)
    assert not house.award(0, 1)


@pytest.mark.parametrize(("wanted", "given"), [(1, 12), (50, 50), (100, 100)])
def test_a_slice_is_handed_what_it_lacks_or_a_share(wanted: int, given: int) -> None:
    whole = Allowance(Limits(in_total=100), 0, date.min, 0)
    handed = handed_out(whole, opened(whole), wanted, 8, TODAY)
    assert handed is not None
    assert (handed.whole.used, 100 - handed.part.gone) == (given, given)


def test_a_slice_is_not_handed_more_than_is_left() -> None:
    whole = Allowance(Limits(in_total=100), 60, TODAY, 0)
    assert handed_out(whole, opened(whole), 41, 8, TODAY) is None
