"""Time as a parameter, and the messages of errors."""

import pickle
from datetime import UTC, datetime, timedelta

import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import AbacusError, LineStopped, Reason, Refused, SetAside, Unavailable
from tests.support.fixed_clock import FixedClock


def test_a_fixed_clock_stands_until_it_is_set() -> None:
    start = datetime(2026, 1, 10, tzinfo=UTC)
    clock = FixedClock(start)
    assert clock.now() == clock.now() == start
    clock.set(start + timedelta(days=1))
    assert clock.now() == start + timedelta(days=1)


def test_the_system_clock_tells_the_present_with_an_offset() -> None:
    before, now, after = datetime.now(UTC), SystemClock().now(), datetime.now(UTC)
    assert before <= now <= after
    assert now.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Unavailable("database", "connection refused"), "database unavailable: connection refused"),
        (SetAside(Reason.UNKNOWN_VERTICAL, "vertical 'yachts'"), "unknown-vertical: vertical 'yachts'"),
        (Refused("ABACUS_DATABASE_URL is not set"), "ABACUS_DATABASE_URL is not set"),
        (LineStopped("too much is bad"), "too much is bad"),
    ],
)
def test_what_errors_say(error: AbacusError, text: str) -> None:
    assert str(error) == text


def test_what_is_unavailable_is_said_by_another_process_too() -> None:
    told = pickle.loads(pickle.dumps(Unavailable("database", "away")))  # noqa: S301  # made a line above
    assert (str(told), told.dependency, told.detail) == ("database unavailable: away", "database", "away")
