"""Frames: where messages begin and end, and which of them commit."""

import struct

import pytest

from tests.reliability.chaos.proxies.frames import GREETING, WANTS_ENCRYPTION, Commits, Frame, Frames


def said(kind: str, body: bytes) -> bytes:
    return kind.encode() + struct.pack("!I", len(body) + 4) + body


STARTUP = struct.pack("!II", 8, 196608)
ENCRYPTION = struct.pack("!II", 8, 80877103)
ALL = ENCRYPTION + STARTUP + said("Q", b"begin\0") + said("S", b"") + said("X", b"")


@pytest.mark.parametrize("size", range(1, len(ALL) + 1))
def test_messages_are_found_however_the_bytes_come(size: int) -> None:
    frames = Frames(greets=True)
    pieces = [ALL[start : start + size] for start in range(0, len(ALL), size)]
    messages = [frame for piece in pieces for frame in frames.of(piece)]
    assert [frame.kind for frame in messages] == [WANTS_ENCRYPTION, GREETING, b"Q", b"S", b"X"]
    assert messages[2].body == b"begin\0"
    assert b"".join(frame.raw for frame in messages) == ALL


@pytest.mark.parametrize(
    ("query", "commits"),
    [
        ("COMMIT;", True),
        ("commit", True),
        (" commit work ; ", True),
        ("insert into t values (1); commit", True),
        ("select commit", False),
        ("commit; select 1", False),
        ("rollback;", False),
        ("BEGIN;", False),
        ("", False),
    ],
)
def test_which_query_commits(query: str, *, commits: bool) -> None:
    assert Commits().is_commit(frame("Q", query.encode() + b"\0")) is commits
    prepared = Commits()
    assert not prepared.is_commit(frame("P", b"s1\0" + query.encode() + b"\0\0\0"))
    assert not prepared.is_commit(frame("B", b"\0s1\0\0\0\0\0\0\0"))
    assert prepared.is_commit(frame("E", b"\0\0\0\0\0")) is commits


def test_a_name_that_is_used_again_means_the_new_statement() -> None:
    commits = Commits()
    for query in (b"commit", b"select 1"):
        commits.is_commit(frame("P", b"\0" + query + b"\0\0\0"))
        commits.is_commit(frame("B", b"\0\0\0\0\0\0\0\0"))
    assert not commits.is_commit(frame("E", b"\0\0\0\0\0"))


def frame(kind: str, body: bytes) -> Frame:
    [message] = Frames().of(said(kind, body))
    return message
