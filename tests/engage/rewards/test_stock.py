"""What is taken for redemptions of one moment: in their order, and never past a limit."""

from datetime import date

import pytest

from abacus.engage.limits.types import Bound, Limits
from abacus.engage.rewards.decide.draft import Ask, draft_of
from abacus.engage.rewards.decide.price import Lock, Locked, Quote
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.decide.stock import MemberUse, Shelf, Use
from tests.support.rewards import NOW, SHOP, reward

DAY = date(2026, 11, 27)
THREE = Bound(runs=3)


def asked(number: int, quantity: int = 1, member: str = "bob") -> Redemption:
    ask = Ask(f"k{number}", member, "coffee", quantity, None, SHOP)
    return draft_of(reward(), ask, Quote(500), facts="", program="GRP", now=NOW)._replace(day=DAY)


@pytest.mark.parametrize(
    ("limits", "used", "of_member", "codes", "lock"),
    [
        (Limits(), 9, 9, 1, None),
        (Limits(overall=THREE), 2, 0, 1, None),
        (Limits(overall=THREE), 3, 0, 1, Lock.STOCK),
        (Limits(day=THREE), 3, 0, 1, Lock.DAY),
        (Limits(member=THREE), 9, 2, 1, None),
        (Limits(member=THREE), 9, 3, 1, Lock.MEMBER),
        (Limits(member_day=THREE), 9, 3, 1, Lock.MEMBER_DAY),
        (Limits(), 0, 0, 0, Lock.CODES),
    ],
)
def test_limits_hold(limits: Limits, used: int, of_member: int, codes: int, lock: Lock | None) -> None:
    uses = {Use("coffee", period): used for period in ("", DAY.isoformat())}
    by_member = {MemberUse("bob", "coffee", day): of_member for day in (None, DAY)}
    shelf = Shelf(uses, by_member, {"coffee_codes": range(1, codes + 1)})
    if lock is None:
        shelf.take(asked(1), limits)
        assert shelf.given == {asked(1).redemption_id: [1]}
        assert shelf.used[Use("coffee", "")] == used + 1
    else:
        with pytest.raises(Locked) as refused:
            shelf.take(asked(1), limits)
        assert (refused.value.lock, shelf.given, shelf.used) == (lock, {}, uses)


def test_each_takes_what_those_before_it_left() -> None:
    shelf = Shelf({}, {}, {"coffee_codes": range(1, 10)})
    limits = Limits(overall=Bound(runs=4), member=Bound(runs=3))
    outcomes = []
    for number, quantity, member in ((1, 2, "bob"), (2, 2, "bob"), (3, 2, "amy"), (4, 1, "amy")):
        try:
            shelf.take(asked(number, quantity, member), limits)
            outcomes.append("taken")
        except Locked as fault:
            outcomes.append(fault.lock)
    assert outcomes == ["taken", Lock.MEMBER, "taken", Lock.STOCK]
    assert list(shelf.given.values()) == [[1, 2], [3, 4]]
