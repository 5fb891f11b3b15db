"""Postgres' protocol, as far as a proxy needs it: where messages begin and end, and which of them commit. Pure."""

import re
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

GREETING: Final = b""  # the first message of a connection has no type
WANTS_ENCRYPTION: Final = b"?"

_LENGTH: Final = struct.Struct("!I")
_ENCRYPTION: Final = frozenset({80877103, 80877104})  # SSLRequest and GSSENCRequest
_COMMIT: Final = re.compile(rb"(?:^|;)\s*commit(?:\s+(?:work|transaction))?\s*;?\s*$", re.IGNORECASE)


class Frame(NamedTuple):
    """A message: its type, its contents, and all its bytes."""

    kind: bytes
    body: bytes
    raw: bytes


class Frames:
    """Cuts the bytes of one side into messages. A client begins with a greeting, or first wishes for encryption."""

    def __init__(self, *, greets: bool = False) -> None:
        self._greets = greets
        self._rest = bytearray()

    def of(self, data: bytes) -> Iterator[Frame]:
        """The messages that are complete with these bytes."""
        self._rest += data
        while True:
            head = 0 if self._greets else 1
            if len(self._rest) < head + _LENGTH.size:
                return
            end = head + _LENGTH.unpack_from(self._rest, head)[0]
            if len(self._rest) < end:
                return
            raw = bytes(self._rest[:end])
            del self._rest[:end]
            body = raw[head + _LENGTH.size :]
            if not self._greets:
                yield Frame(raw[:1], body, raw)
            elif _LENGTH.unpack_from(body)[0] in _ENCRYPTION:
                yield Frame(WANTS_ENCRYPTION, body, raw)
            else:
                self._greets = False
                yield Frame(GREETING, body, raw)


class Commits:
    """Tells which message of a client asks to commit: a simple query, or the execution of a prepared statement."""

    def __init__(self) -> None:
        self._statements: set[bytes] = set()
        self._portals: set[bytes] = set()

    def is_commit(self, frame: Frame) -> bool:
        """Whether this message asks to commit. It has to see every message of the client."""
        if frame.kind == b"Q":
            return _COMMIT.search(frame.body.rstrip(b"\0")) is not None
        if frame.kind == b"P":
            name, query, _ = frame.body.split(b"\0", 2)
            _keep(self._statements, name, is_commit=_COMMIT.search(query) is not None)
        elif frame.kind == b"B":
            portal, statement, _ = frame.body.split(b"\0", 2)
            _keep(self._portals, portal, is_commit=statement in self._statements)
        elif frame.kind == b"E":
            return frame.body.split(b"\0", 1)[0] in self._portals
        return False


def has_ended(frame: Frame) -> bool:
    """Whether the server says here how the statement ended, well or not."""
    return frame.kind in {b"C", b"E"}


def has_committed(frame: Frame) -> bool:
    return frame.kind == b"C" and frame.body == b"COMMIT\0"


def _keep(names: set[bytes], name: bytes, *, is_commit: bool) -> None:
    if is_commit:
        names.add(name)
    else:
        names.discard(name)
