"""The load's speed, and its messages."""

import json
from datetime import UTC, datetime

import pytest

from abacus.core.errors import SetAside
from abacus.intake.earning.decide.transaction import Completed, read_transaction
from benchmarks.load import LEAST_LEAD, Bodies, Pace
from benchmarks.services import PARTITIONS

NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("pace", "seconds", "published", "working_s", "due"),
    [
        (Pace(100.0, None, 1000), 0.0, 0, 0.0, 0),
        (Pace(100.0, None, 1000), 2.5, 0, 0.0, 250),
        (Pace(100.0, None, 1000), 60.0, 0, 0.0, 1000),
        (Pace(None, 3.0, 10**6), 5.0, 0, 0.0, LEAST_LEAD),
        (Pace(None, 3.0, 10**6), 5.0, 4_000, 2.0, 10_000),  # 2,000 a second: three seconds of that ahead
        (Pace(None, 3.0, 9_000), 5.0, 4_000, 2.0, 9_000),
        (Pace(None, None, 500), 0.0, 0, 0.0, 500),
    ],
)
def test_how_many_are_due(pace: Pace, seconds: float, published: int, working_s: float, due: int) -> None:
    assert pace.due(seconds, published, working_s) == due


def test_every_message_is_a_transaction_of_a_member_that_is_there_with_an_id_of_its_own() -> None:
    bodies = Bodies("test", 1000, at=None, hot=False, poison=0.0)
    sent = list(bodies.messages(range(2000)))
    read = [read_transaction(value) for _, _, value in sent]
    assert all(isinstance(transaction, Completed) for transaction in read)
    assert len({transaction.key for transaction in read}) == 2000
    assert {key.decode() for _, key, _ in sent} == {transaction.member_id for transaction in read}
    assert all(int(transaction.member_id[1:]) < 1000 for transaction in read)
    assert {partition for partition, _, _ in sent} == set(range(PARTITIONS))
    assert len({(key, partition) for partition, key, _ in sent}) == len({key for _, key, _ in sent})


def test_the_same_mark_at_the_same_time_sends_the_same() -> None:
    first, again = (list(Bodies("test", 50, at=NOW, hot=False, poison=0.1).messages(range(300))) for _ in range(2))
    assert first == again


def test_a_share_is_garbage_and_one_member_can_be_hot() -> None:
    sent = list(Bodies("test", 1000, at=NOW, hot=True, poison=0.1).messages(range(2000)))
    assert {key for _, key, _ in sent} == {b"m00000000"}
    garbage = [value for _, _, value in sent if _is_garbage(value)]
    assert 100 < len(garbage) < 300
    for value in garbage:
        with pytest.raises(SetAside):
            read_transaction(value)


def _is_garbage(value: bytes) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return True
    return False
