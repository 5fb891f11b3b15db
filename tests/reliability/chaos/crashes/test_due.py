"""The audit names rows and events that are missing, too many, out of order, or different the second time."""

import pytest

from abacus.core.errors import Reason
from tests.reliability.chaos.crashes.due import Due, Held, Posted, Told, faults_of

FIRST, SECOND = Posted("bob", "txn:1", 20), Posted("bob", "txn:2", 30)
GARBAGE = Held(Reason.UNDECODABLE, b"{")
TOLD = [Told(f"bob:GRP:{seq}", "bob", "GRP", seq, each.key, each.points) for seq, each in enumerate((FIRST, SECOND), 1)]


@pytest.fixture
def due() -> Due:
    expected = Due()
    expected.post(*FIRST)
    expected.post(*SECOND)
    expected.hold(Reason.UNDECODABLE, "{")
    return expected


@pytest.mark.parametrize(
    ("posted", "held", "told", "faults"),
    [
        ([FIRST, SECOND], [GARBAGE], TOLD, []),
        ([FIRST, SECOND], [GARBAGE], [*TOLD, *TOLD], []),
        ([FIRST, SECOND], [GARBAGE], [TOLD[0], *TOLD], []),
        ([FIRST], [GARBAGE], TOLD, ["transfer missing"]),
        ([FIRST, SECOND, SECOND], [GARBAGE], TOLD, ["transfer too many"]),
        ([FIRST, SECOND._replace(points=31)], [GARBAGE], TOLD, ["transfer missing", "transfer too many"]),
        ([FIRST, SECOND], [], TOLD, ["set aside missing"]),
        ([FIRST, SECOND], [GARBAGE, GARBAGE], TOLD, ["set aside too many"]),
        ([FIRST, SECOND], [GARBAGE], TOLD[:1], ["event missing"]),
        ([FIRST, SECOND], [GARBAGE], TOLD[::-1], ["event bob:GRP:2 comes after seq 0"]),
        (
            [FIRST, SECOND],
            [GARBAGE],
            [TOLD[0]._replace(points=21), *TOLD],
            ["event bob:GRP:1 comes again with other content"],
        ),
    ],
    ids=[
        "as is due",
        "told twice",
        "one told twice",
        "lost",
        "doubled",
        "of other points",
        "not set aside",
        "set aside twice",
        "not told",
        "out of order",
        "told otherwise",
    ],
)
def test_what_does_not_hold(
    due: Due, posted: list[Posted], held: list[Held], told: list[Told], faults: list[str]
) -> None:
    actual = faults_of(due, posted, held, told)
    assert len(actual) == len(faults)
    assert all(fault.startswith(begin) for fault, begin in zip(actual, faults, strict=True))
