"""A message as reconciling reads it: its key and facts, whether a rule ignores it, and its id in the quarantine."""

from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.core.errors import Reason, SetAside
from abacus.oversight.reconcile.decide.entry import UNREADABLE, entry_of, key_of
from abacus.platform.quarantine.types import Item, Stage
from tests.support.cards import BOOK, CANCELLED, LUNCH, REFUND, cancelled, lunch, message, read

NOW = datetime(2026, 5, 1, tzinfo=UTC)

# A message; its source, key, fingerprint, and whether a rule ignores it.
ROWS: dict[str, tuple[bytes, tuple[str, str | None, str | None, bool]]] = {
    "a transaction": (message(LUNCH), ("rides", "txn:rides:T-1001", lunch().fingerprint, False)),
    "the same, written otherwise": (
        message(LUNCH | {"amount": "15.0", "more": 1}),
        ("rides", "txn:rides:T-1001", lunch().fingerprint, False),
    ),
    "an event that the card lists": (
        message(CANCELLED),
        ("rides", "event:rides:booking.cancelled_by_driver:T-1001", cancelled().fingerprint, False),
    ),
    "an event that it does not": (
        message(CANCELLED | {"type": "booking.rated"}),
        ("rides", "event:rides:booking.rated:T-1001", cancelled(type="booking.rated").fingerprint, True),
    ),
    "an event of a country without a card": (
        message(CANCELLED | {"country": "XX"}),
        ("rides", "event:rides:booking.cancelled_by_driver:T-1001", cancelled(country="XX").fingerprint, False),
    ),
    "a refund": (message(REFUND), ("rides", "refund:rides:R-7", read(REFUND).fingerprint, False)),
    "no JSON": (b"{", (UNREADABLE, None, None, False)),
    "no member": (message(LUNCH | {"member_id": ""}), (UNREADABLE, None, None, False)),
    "empty": (b"", (UNREADABLE, None, None, False)),
}


@pytest.mark.parametrize(("body", "expected"), ROWS.values(), ids=ROWS)
def test_what_a_message_says(body: bytes, expected: tuple[Any, ...]) -> None:
    entry = entry_of(body, BOOK, topic="transactions", partition=3, offset=14, stamped_at=NOW)
    assert (entry.source, entry.key, entry.fingerprint, entry.ignored) == expected
    assert (entry.partition, entry.offset, entry.stamped_at) == (3, 14, NOW)
    assert key_of(body) == expected[1]


def test_its_item_is_the_one_that_the_calculator_would_set_aside() -> None:
    fault = SetAside(Reason.UNDECODABLE, "whatever it says")
    item = Item.of(Stage.TRANSACTION, "kafka:transactions/3/14", b"{", fault)
    assert entry_of(b"{", BOOK, topic="transactions", partition=3, offset=14, stamped_at=NOW).item == item.id
