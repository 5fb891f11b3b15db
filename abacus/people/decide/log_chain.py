"""The chain of the log: each entry is hashed with the one before it. Pure."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from abacus.people.types.deed import Chained, LogHead

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
# An entry is chained when its transaction has ended, so it may be older than the entry before it, but not by this much.
_LONGEST: Final = timedelta(hours=2)


def body_of(row: Chained) -> bytes | None:
    """What its subject and details come to, which may name a member. None where an erasure has taken the salt."""
    if row.salt is None:
        return row.body
    said = _text([row.entry.subject, row.entry.details.decode()])
    return hashlib.sha256(row.salt.bytes + said).digest()


def hash_of(row: Chained, number: int, previous: bytes) -> bytes:
    """Over the hash before it and every other field of the row."""
    entry = row.entry
    facts = [
        number,
        str(entry.entry_id),
        (entry.at - _EPOCH) // _MICROSECOND,
        entry.actor,
        entry.authenticated,
        entry.deed,
        entry.country,
        row.of_before,
        (body_of(row) or b"").hex(),
        row.stated,
        None if row.state is None else row.state.decode(),
    ]
    return hashlib.sha256(previous + _text(facts)).digest()


def chained(rows: Iterable[Chained], head: LogHead) -> list[Chained]:
    """The rows, with their places behind the head."""
    number, previous, placed = head.entries, head.hash, list[Chained]()
    for row in rows:
        number += 1
        previous = hash_of(row, number, previous)
        placed.append(row._replace(number=number, hash=previous))
    return placed


class LogFollower:
    """Follows the chain, entry after entry, and tells the faults of each."""

    def __init__(self, before: Chained | None = None) -> None:
        self.number = (before and before.number) or 0
        self._hash: bytes = (before and before.hash) or b""
        self._at = before.entry.at if before is not None else None

    def follow(self, row: Chained) -> Iterator[str]:
        number, at = row.number or 0, row.entry.at
        if number != self.number + 1:
            yield f"follows #{self.number}: {number - self.number - 1} missing before it"
        if row.hash != hash_of(row, number, self._hash):
            yield "the hash does not match the entry and the one before it"
        if self._at is not None and not row.of_before and at < self._at - _LONGEST:
            yield f"it is of {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC, long before the entry before it"
        self.number, self._hash, self._at = number, row.hash or b"", at


def erased_digest(rows: Iterable[Chained]) -> str:
    """Over what an erasure has left of a member's entries, in their order. The log has it with the erasure."""
    left = [[row.number, row.entry.subject, row.entry.details.decode()] for row in rows]
    return hashlib.sha256(_text(left)).hexdigest()


def _text(facts: list[Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
