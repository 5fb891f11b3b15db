"""The head and the body of an answer leave in one write; what nothing follows leaves at once."""

import asyncio
from collections.abc import Callable

import pytest

from abacus.api.http.joined_writes import JoinedWrites

pytestmark = pytest.mark.once

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"
STREAMED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Line(asyncio.Transport):
    """Keeps what leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[bytes] = []
        self.is_over = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.left.append(bytes(data))

    def write_eof(self) -> None:
        self.left.append(b"EOF")

    def close(self) -> None:
        self.is_over = True

    def is_closing(self) -> bool:
        return self.is_over


def head_alone(joined: JoinedWrites) -> None:
    joined.write(HEAD)


def head_and_body(joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.write(b"body")


def head_and_empty_body(joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.write(b"")


def two_answers(joined: JoinedWrites) -> None:
    head_and_body(joined)
    head_and_body(joined)


def body_in_parts(joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.write(b"bo")
    joined.write(b"dy")


def head_that_is_all(joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.leave()
    joined.leave()


def stream(joined: JoinedWrites) -> None:
    joined.write(STREAMED)
    joined.write(b"chunk")


def wish_to_continue(joined: JoinedWrites) -> None:
    joined.write(CONTINUE)


def last_words(joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.write_eof()


def closed(joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.close()
    joined.write(b"too late")


@pytest.mark.parametrize(
    ("writes", "left"),
    [
        (head_alone, []),
        (head_and_body, [HEAD + b"body"]),
        (head_and_empty_body, [HEAD]),
        (two_answers, [HEAD + b"body"] * 2),
        (body_in_parts, [HEAD + b"bo", b"dy"]),
        (head_that_is_all, [HEAD]),
        (stream, [STREAMED, b"chunk"]),
        (wish_to_continue, [CONTINUE]),
        (last_words, [HEAD, b"EOF"]),
        (closed, [HEAD]),
    ],
)
def test_what_leaves(writes: Callable[[JoinedWrites], None], left: list[bytes]) -> None:
    line = Line()
    writes(JoinedWrites(line))
    assert line.left == left
