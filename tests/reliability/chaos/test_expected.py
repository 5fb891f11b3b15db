"""The expected outcome of a run, and the streams that an account may have: tables."""

from decimal import Decimal

import pytest

from abacus.core.errors import Reason
from tests.reliability.chaos.expected import expected_of, taken_back
from tests.reliability.chaos.order import Telling
from tests.reliability.chaos.workload import Aside, Awarded, Fate, Ignored, TakenBack

FIRST = Awarded("txn:rides:1", "f1", "bob", "GRP", 10)
OTHER = Awarded("txn:rides:1", "f2", "bob", "GRP", 11)
REFUND = TakenBack("refund:rides:1", "f3", "txn:rides:1", Decimal(5), Decimal(10))
FATES: dict[bytes, Fate] = {
    b"first": FIRST,
    b"other": OTHER,
    b"refund": REFUND,
    b"bad": Aside(Reason.INVALID),
    b"nothing": Ignored(),
}


def test_what_stands_in_the_topic_decides_what_is_expected() -> None:
    bodies = [b"first", b"other", b"first", b"bad", b"refund", b"nothing", b"bad", b"strange"]
    expected = expected_of([(f"k/{at}", body) for at, body in enumerate(bodies)], FATES)
    assert expected.awards == {FIRST.key: {"f1": FIRST, "f2": OTHER}}
    assert expected.conflicts == {(FIRST.key, "f1"), (FIRST.key, "f2")}
    assert expected.refunds == {REFUND.key: REFUND}
    assert expected.aside == {"k/3": Reason.INVALID, "k/6": Reason.INVALID}
    assert (expected.ignored, expected.unknown) == (1, ["k/7"])


@pytest.mark.parametrize(
    ("refunded", "points", "taken"),
    [
        (["10"], 7, 7),
        (["5"], 7, 3),
        (["2.5", "2.5"], 7, 3),
        (["5", "5"], 7, 7),
        (["5", "2.5", "5"], 7, 7),
        (["0.01"], 7, 0),
    ],
)
def test_refunds_take_their_share_together(refunded: list[str], points: int, taken: int) -> None:
    refunds = [REFUND._replace(key=str(at), amount=Decimal(amount)) for at, amount in enumerate(refunded)]
    assert taken_back(refunds, {FIRST.key: points}) == {FIRST.key: taken}


@pytest.mark.parametrize(
    ("told", "posted", "faults", "again"),
    [
        ([1, 2, 3], 3, [], 0),
        ([1, 2, 1, 2, 3], 3, [], 2),
        ([1, 3], 3, ["bob, GRP: 3 is told after 1"], 0),
        ([1, 3, 2], 3, ["bob, GRP: 3 is told after 1"], 1),
        ([2], 2, ["bob, GRP: 2 is told after 0"], 0),
        ([1, 2], 3, ["bob, GRP: told up to 2 of 3"], 0),
        ([1, 2], 1, ["bob, GRP: told up to 2 of 1"], 0),
        ([], 1, ["bob, GRP: told up to 0 of 1"], 0),
    ],
)
def test_an_account_is_told_in_order_and_without_a_gap(
    told: list[int], posted: int, faults: list[str], again: int
) -> None:
    telling = Telling()
    for seq in told:
        telling.tell(("bob", "GRP"), seq)
    assert (telling.against({("bob", "GRP"): posted}), telling.again) == (faults, again)
