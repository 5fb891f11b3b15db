"""Follows a topic: the follower reads its events, and offsets move when the effect is durable."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import structlog

from abacus.core.errors import Unreadable
from abacus.platform.kafka.reader import Record

Value = TypeVar("Value")

log = structlog.get_logger(__name__)


class ReadRecords(NamedTuple, Generic[Value]):
    """The events in records that matter to a follower, and the numbers of irrelevant and unreadable records."""

    values: Sequence[Value]
    ignored: int
    unreadable: int


def read_records(records: Sequence[Record], read: Callable[[bytes], Value | None]) -> ReadRecords[Value]:
    """Reads records. An unreadable record is logged and counted, and holds up nothing."""
    values: list[Value] = []
    unreadable = 0
    for record in records:
        try:
            value = read(record.value)
        except Unreadable as fault:
            unreadable += 1
            log.warning("event skipped", at=f"{record.topic}:{record.partition}:{record.offset}", why=str(fault))
        else:
            if value is not None:
                values.append(value)
    return ReadRecords(values, len(records) - len(values) - unreadable, unreadable)
