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


def body_of(entry: Chained) -> bytes | None:
    """What its subject and details come to, which may name a member. None where an erasure has taken the salt."""
    if entry.salt is None:
        return entry.body
    said = _text([entry.subject, entry.details.decode()])
    return hashlib.sha256(entry.salt.bytes + said).digest()


def hash_of(entry: Chained, number: int, previous: bytes) -> bytes:
    """Over the hash before it and every other field of the entry."""
    facts = [
        number,
        str(entry.entry_id),
        (entry.at - _EPOCH) // _MICROSECOND,
        entry.actor,
        entry.authenticated,
        entry.deed,
        entry.country,
        entry.of_before,
        (body_of(entry) or b"").hex(),
        entry.stated,
        None if entry.state is None else entry.state.decode(),
    ]
    return hashlib.sha256(previous + _text(facts)).digest()


def chained(entries: Iterable[Chained], head: LogHead) -> list[Chained]:
    """The entries, with their places behind the head."""
    number, previous, placed = head.entries, head.hash, list[Chained]()
    for entry in entries:
        number += 1
        previous = hash_of(entry, number, previous)
        placed.append(entry._replace(number=number, hash=previous))
    return placed


class LogFollower:
    """Follows the chain, entry after entry, and tells the faults of each."""

    def __init__(self, before: Chained | None = None) -> None:
        self.number = (before and before.number) or 0
        self._hash: bytes = (before and before.hash) or b""
        self._at = before.at if before is not None else None

    def follow(self, entry: Chained) -> Iterator[str]:
        number = entry.number or 0
        if number != self.number + 1:
            yield f"follows #{self.number}: {number - self.number - 1} missing before it"
        if entry.hash != hash_of(entry, number, self._hash):
            yield "the hash does not match the entry and the one before it"
        if self._at is not None and not entry.of_before and entry.at < self._at - _LONGEST:
            yield f"it is of {entry.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC, long before the entry before it"
        self.number, self._hash, self._at = number, entry.hash or b"", entry.at


def erased_digest(entries: Iterable[Chained]) -> str:
    """Over what an erasure has left of a member's entries, in their order. The log has it with the erasure."""
    left = [[entry.number, entry.subject, entry.details.decode()] for entry in entries]
    return hashlib.sha256(_text(left)).hexdigest()


def _text(facts: list[Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
