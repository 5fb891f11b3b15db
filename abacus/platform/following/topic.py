"""Following a topic: its events become what they say to the follower, and offsets move after that is durable."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import structlog

from abacus.core.errors import Unreadable
from abacus.platform.kafka.reader import Record

Value = TypeVar("Value")

log = structlog.get_logger(__name__)


class ReadRecords(NamedTuple, Generic[Value]):
    """What records say to a follower, and how many of them say nothing to it or cannot be read."""

    values: Sequence[Value]
    ignored: int
    unreadable: int


def read_records(records: Sequence[Record], read: Callable[[bytes], Value | None]) -> ReadRecords[Value]:
    """What cannot be read is logged and counted, and holds up nothing."""
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
