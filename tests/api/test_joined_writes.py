"""What is written in one turn of the loop leaves in one write, and before the connection ends."""

import asyncio
from collections.abc import Callable

import pytest

from abacus.api.http.joined_writes import JoinedWrites

pytestmark = pytest.mark.once

LARGE = b"x" * 50_000


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


def head_and_body(joined: JoinedWrites) -> None:
    joined.write(b"head ")
    joined.write(b"body")


def more_than_is_held(joined: JoinedWrites) -> None:
    for each in (LARGE, LARGE, b"end"):
        joined.write(each)


def last_words(joined: JoinedWrites) -> None:
    joined.write(b"bye")
    joined.write_eof()


def closed(joined: JoinedWrites) -> None:
    joined.write(b"bye")
    joined.close()
    joined.write(b"too late")


@pytest.mark.parametrize(
    ("writes", "at_once", "in_all"),
    [
        (head_and_body, [], [b"head body"]),
        (more_than_is_held, [LARGE + LARGE], [LARGE + LARGE, b"end"]),
        (last_words, [b"bye", b"EOF"], [b"bye", b"EOF"]),
        (closed, [b"bye"], [b"bye"]),
    ],
)
async def test_what_leaves(writes: Callable[[JoinedWrites], None], at_once: list[bytes], in_all: list[bytes]) -> None:
    line = Line()
    writes(JoinedWrites(line))
    assert line.left == at_once
    await asyncio.sleep(0)
    assert line.left == in_all
