"""What an audit finds wrong with counters."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.platform.settings import Settings
from abacus.signals.events.wiring import built_in_sources
from tests.reliability.chaos.counted import Arrival, PlainCount, definitions, faults_of_counts, plain_count

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SOURCES = built_in_sources(Settings())
[TRANSACTIONS] = [each for each in SOURCES if each.name == "transactions"]


def arrival(partition: int, offset: int, **changes: Any) -> Arrival:
    body = {
        "type": "transaction.completed",
        "source": "rides",
        "transaction_id": "T-1",
        "member_id": "bob",
        "country": "SG",
        "vertical": "rides",
        "payment_type": "cash",
        "amount": "12.50",
        "currency": "SGD",
        "occurred_at": "2026-10-31T12:00:00+08:00",
    }
    return Arrival(partition, offset, json.dumps({**body, **changes}).encode())


def test_each_event_is_counted_once_in_its_partition() -> None:
    arrivals = [
        arrival(0, 0),
        arrival(0, 1),
        arrival(0, 2, amount="9.00"),
        arrival(1, 0, member_id="eve"),
        arrival(0, 3, transaction_id="T-2", vertical="food"),
        arrival(0, 4, transaction_id="T-3", type="transaction.refunded"),
        arrival(0, 5, transaction_id="T-4", occurred_at="2019-10-31T12:00:00+08:00"),
        arrival(0, 6, transaction_id="T-5", amount="much"),
        Arrival(0, 7, b"no JSON"),
        arrival(0, 8, transaction_id="T-6", occurred_at="2099-10-31T12:00:00+08:00"),
    ]
    assert plain_count(reversed(arrivals), TRANSACTIONS, NOW) == PlainCount(
        {"member:bob": 2, "member:eve": 1, "paid:SGD": 3750, "rides:SG:cash": 2}, set_aside=1
    )


def test_the_counters_of_a_run_are_all_there() -> None:
    assert [each.name for each in definitions(SOURCES)] == ["of_member", "paid_in", "rides_in"]


EXPECTED = PlainCount({"a": 2, "b": 1}, set_aside=3)


@pytest.mark.parametrize(
    ("sums", "tallied", "held", "faults"),
    [
        ({"a": 2, "b": 1}, 3, 3, []),
        ({"a": 2}, 3, 3, ["counted wrongly: b: 0, not 1"]),
        ({"a": 3, "b": 1, "c": 1}, 3, 3, ["counted wrongly: a: 3, not 2; c: 1, not 0"]),
        ({"a": 2, "b": 1}, 4, 3, ["4 messages are tallied as set aside by the counter, not 3"]),
        ({"a": 2, "b": 1}, 3, 2, ["2 messages are held as set aside by the counter, not 3"]),
    ],
)
def test_faults(sums: dict[str, int], tallied: int, held: int, faults: list[str]) -> None:
    assert list(faults_of_counts(EXPECTED, sums, tallied, held)) == faults
