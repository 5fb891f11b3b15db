"""The meaning of a receiver's reply by HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from abacus.platform.delivery.decide.reply import Reply, waits_until
from abacus.platform.delivery.types import Said

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

STATUSES = [
    (200, Said.ACCEPTED),
    (204, Said.ACCEPTED),
    (299, Said.ACCEPTED),
    (199, Said.FAILED),
    (302, Said.FAILED),
    (404, Said.FAILED),
    (410, Said.GONE),
    (429, Said.FAILED),
    (500, Said.FAILED),
    (None, Said.FAILED),
]


@pytest.mark.parametrize(("status", "said"), STATUSES)
def test_what_a_status_says(status: int | None, said: Said) -> None:
    assert Reply(status, "").said is said


@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [
        ("120", timedelta(minutes=2)),
        (" 0 ", timedelta()),
        ("Mon, 01 Jun 2026 13:00:00 GMT", timedelta(hours=1)),
        ("Mon, 01 Jun 2026 11:00:00 GMT", -timedelta(hours=1)),
        ("Mon, 01 Jun 2026 13:00:00", timedelta()),
        ("-5", timedelta()),
        ("99999999999", timedelta()),
        ("Mon, 01 Jan 99999999999999 00:00:00 GMT", timedelta()),
        ("Mon, 01 Jun 2026 13:00:00 +99999999999999999", timedelta()),
        ("Mon, 01 Jun 2026 99999999999999:00:00 GMT", timedelta()),
        ("soon", timedelta()),
        ("", timedelta()),
        (None, timedelta()),
    ],
)
def test_how_long_a_receiver_asks_to_be_left_alone(retry_after: str | None, waits: timedelta) -> None:
    assert waits_until(retry_after, NOW) - NOW == waits
