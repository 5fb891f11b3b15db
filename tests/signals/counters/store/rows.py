"""Rows of counters for tests."""

from datetime import UTC, datetime
from typing import Final

from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange

NOW: Final = datetime(2026, 6, 10, 12, 7, tzinfo=UTC)
DAY_S: Final = 86_400
_NOON: Final = 1_781_092_800  # the quarter that begins at 12:00 of that day


def quarter(number: int) -> int:
    """The quarter that begins at noon, or so many quarters later."""
    return slot_of(Grain.QUARTER, _NOON + 900 * number)


def row(key: str, slot: int, writer: int, count: int, upto: int, *, keep_s: int = 8 * DAY_S) -> Row:
    return Row(RowKey(key, slot, writer), Count(count, upto), int(NOW.timestamp()) + keep_s)


def around(key: str, slot: int) -> SlotRange:
    """The range of one slot."""
    return SlotRange(key, slot, slot + 1)
