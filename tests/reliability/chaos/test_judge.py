"""The faults that an audit names: one row a fault, and none where all is as it should be."""

from decimal import Decimal

import pytest

from abacus.core.errors import Reason
from tests.reliability.chaos.expected import Expected
from tests.reliability.chaos.judge import Held, Posted, faults_of_postings, faults_of_quarantine, few
from tests.reliability.chaos.workload import Awarded, TakenBack

FIRST = Awarded("txn:1", "f1", "bob", "GRP", 10)
OTHER = Awarded("txn:1", "f2", "eve", "GRP", 11)
PLAIN = Awarded("txn:2", "f3", "bob", "GRP", 8)
REFUND = TakenBack("refund:2", "f4", "txn:2", Decimal(5), Decimal(10))
EXPECTED = Expected({"txn:1": {"f1": FIRST, "f2": OTHER}, "txn:2": {"f3": PLAIN}}, {"refund:2": REFUND}, {}, 0, [])

ONE = Posted(*FIRST, "earn")
TWO = Posted(*PLAIN, "earn")
BACK = Posted("refund:2", "f4", "bob", "GRP", -4, "reverse", 4, 0)
LAPSED = Posted("expiry:2026-11:bob:GRP", "f9", "bob", "GRP", -6, "expire")


@pytest.mark.parametrize(
    ("postings", "may_expire", "faults"),
    [
        ([ONE, TWO, BACK], False, []),
        ([Posted(*OTHER, "earn"), TWO, BACK], False, []),
        ([ONE, TWO, BACK, LAPSED], True, []),
        ([ONE, TWO, BACK._replace(points=-3, expired=1)], True, []),
        ([ONE, TWO, BACK, LAPSED], False, ["posted, but never sent: expiry:2026-11:bob:GRP"]),
        ([ONE, BACK], False, ["not posted: txn:2"]),
        ([ONE, TWO], False, ["not posted: refund:2"]),
        ([TWO, BACK], False, ["not posted: txn:1"]),
        ([ONE._replace(points=9), TWO, BACK], False, ["posted wrongly: txn:1: 9 points for bob, not 10"]),
        ([ONE._replace(member_id="eve"), TWO, BACK], False, ["posted wrongly: txn:1: 10 points for eve, not 10"]),
        ([ONE, TWO, BACK._replace(points=-3)], False, ["posted wrongly: refund:2: -3 points of 4 due"]),
        ([ONE, TWO, BACK._replace(points=-3, due=3)], False, ["posted wrongly: refunds of txn:2 took 3, not 4"]),
        ([ONE, TWO, BACK, ONE._replace(fingerprint="f7")], False, ["posted, but never sent: txn:1"]),
        ([ONE, TWO, BACK, ONE._replace(key="txn:9")], False, ["posted, but never sent: txn:9"]),
    ],
)
def test_postings(postings: list[Posted], may_expire: bool, faults: list[str]) -> None:  # noqa: FBT001  # a column
    assert faults_of_postings(EXPECTED, postings, may_expire=may_expire) == faults


CONFLICT = Held("award", "award:txn:1", "key-conflict", "txn:1", "f2")
BAD = Held("transaction", "k/3", "invalid", None, None)
WITH_BAD = EXPECTED._replace(aside={"k/3": Reason.INVALID})


@pytest.mark.parametrize(
    ("expected", "held", "faults"),
    [
        (WITH_BAD, [CONFLICT, BAD], []),
        (WITH_BAD, [CONFLICT], ["not set aside: k/3"]),
        (WITH_BAD, [BAD], ["contradicts, and not set aside: ('txn:1', 'f2')"]),
        (EXPECTED, [CONFLICT, BAD], ["set aside for nothing: k/3"]),
        (WITH_BAD, [CONFLICT, BAD._replace(reason="undecodable")], ["set aside otherwise: k/3"]),
        (
            EXPECTED,
            [CONFLICT, CONFLICT._replace(key="txn:2", fingerprint="f3")],
            ["set aside as if it contradicted: ('txn:2', 'f3')"],
        ),
        (EXPECTED, [CONFLICT, CONFLICT._replace(reason="unpostable")], ["set aside, of awards: txn:1: unpostable"]),
    ],
)
def test_quarantine(expected: Expected, held: list[Held], faults: list[str]) -> None:
    assert faults_of_quarantine(expected, [ONE, TWO, BACK], held) == faults


def test_what_is_set_aside_beside_the_topic_is_counted() -> None:
    expected, beside = Expected({}, {}, {}, 0, []), {"award queue: invalid": 2}
    item = Held("envelope", "award queue", "invalid", None, None)
    assert faults_of_quarantine(expected, [], [item, item], beside) == []
    assert faults_of_quarantine(expected, [], [item], beside) == ["not set aside, of awards: award queue: invalid"]
    assert faults_of_quarantine(expected, [], [item] * 3, beside) == ["set aside, of awards: award queue: invalid"]


def test_faults_of_a_kind_are_one_line() -> None:
    assert list(few("missing", [])) == []
    assert list(few("missing", range(7))) == ["missing: 0; 1; 2; 3; 4 and 2 more"]
