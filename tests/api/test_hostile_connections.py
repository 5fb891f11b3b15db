"""Callers that misuse connections: the server ends them, answers where it can, and serves the others on.

Where a test is about time, the server's clock stands still until the test puts it forward: a busy machine makes nobody
late.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

import psutil
import pytest
from starlette.types import Receive, Scope, Send

from abacus.api.http.limits import HttpLimits
from abacus.api.metrics import API_CONNECTIONS, API_REFUSED
from abacus.api.server import bound, serve
from abacus.platform.metrics import total
from tests.support.house import until

pytestmark = pytest.mark.once

MIB: Final = 1024 * 1024
HEAD_S: Final = HttpLimits().head_s
BODY_S: Final = HttpLimits().body_s
GET: Final = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
POST: Final = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
CHUNKED: Final = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


class Caller(NamedTuple):
    """A connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def flood(self, piece: bytes, most: int) -> int:
        """Sends a piece again and again until the server has enough, and returns the number of bytes."""
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < most and not self.writer.is_closing():
                self.writer.write(piece)
                await self.writer.drain()
                sent += len(piece)
        return sent

    async def rest(self) -> bytes:
        """Whatever comes until the server closes the connection."""
        received = b""
        with contextlib.suppress(ConnectionError):
            while piece := await self.reader.read(64 * 1024):
                received += piece
        return received

    async def answer(self) -> tuple[int, bytes]:
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return int(head[9:12]), await self.reader.readexactly(length)


class Clock:
    """The seconds of the machine, or those at which a test has stopped them; and what it has put forward."""

    def __init__(self, *, stopped: bool) -> None:
        self._stopped_at = time.monotonic() if stopped else None
        self._forward_s = 0.0

    def __call__(self) -> float:
        return (self._stopped_at or time.monotonic()) + self._forward_s

    def forward(self, seconds: float) -> None:
        self._forward_s += seconds


class Served(NamedTuple):
    """A server, and what its application has seen."""

    port: int
    clock: Clock
    pieces: list[int]
    bodies: list[int]
    trailers: list[bytes]
    open_gate: asyncio.Event
    callers: list[asyncio.StreamWriter]

    async def call(self, sent: bytes = b"") -> Caller:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.callers.append(writer)
        writer.write(sent)
        await writer.drain()
        return Caller(reader, writer)

    async def answers(self) -> bool:
        """Whether another caller is answered. What the others sent before has been read then: the server takes the
        connections, and reads what is there, in turn.
        """
        return await (await self.call(GET)).answer() == (200, b"0")

    async def later(self, seconds: float) -> None:
        """Moves the clock, by more than a caller has for a head, and lets the server look at all its connections."""
        assert seconds > HEAD_S
        silent = await self.call()
        assert await self.answers()
        self.clock.forward(seconds)
        assert await silent.rest() == b""


@asynccontextmanager
async def served(limits: HttpLimits, *, clock_stopped: bool = False) -> AsyncIterator[Served]:
    """An application that answers with the length of the body; /wait once the gate is open, /long with 16 MiB."""
    listener = bound("127.0.0.1", 0, "a setting")
    it = Served(listener.getsockname()[1], Clock(stopped=clock_stopped), [], [], [], asyncio.Event(), [])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        length = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            length += len(message["body"])
            it.pieces.append(len(message["body"]))
            if not message["more_body"]:
                break
        it.bodies.append(length)
        it.trailers.extend(name for name, _ in scope["headers"] if name == b"x-trailer")
        if scope["path"] == "/wait":
            await it.open_gate.wait()
        content = b"x" * 16 * MIB if scope["path"] == "/long" else str(length).encode()
        headers = [(b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    stop = asyncio.Event()
    serving = asyncio.create_task(serve(app, listener, stop, limits, it.clock))
    try:
        yield it
    finally:
        it.open_gate.set()
        for each in it.callers:
            each.transport.abort()
        it.clock.forward(BODY_S)  # no connection lingers on
        stop.set()
        await serving


def memory() -> int:
    return int(psutil.Process().memory_info().rss)


def refused(reason: str) -> int:
    return total(API_REFUSED, reason=reason)


def problem(answer: tuple[int, bytes]) -> tuple[int, str]:
    status, body = answer
    return status, json.loads(body)["type"]


TOO_LARGE: Final = (431, "/problems/head-too-large")
TOO_SLOW: Final = (408, "/problems/too-slow")
MALFORMED: Final = (400, "/problems/malformed")

# The beginning of a request, and what is sent again and again behind it.
ENDLESS: Final[dict[str, tuple[bytes, bytes]]] = {
    "headers": (GET[:-2], b"x-endless: " + b"y" * 1000 + b"\r\n"),
    "one header": (GET[:-2] + b"x: ", b"y" * 64 * 1024),
    "a header's name": (GET[:-2], b"y" * 64 * 1024),
    "tiny headers": (GET[:-2], b"a:\r\n" * 10_000),
    "a request line": (b"GET /", b"y" * 64 * 1024),
    "a method": (b"", b"GET" * 20_000),
    "empty lines": (b"", b"\r\n" * 32 * 1024),
    "chunk extensions": (CHUNKED, b"1;" + b"x" * 64 * 1024 + b"\r\na\r\n"),
    "one chunk extension": (CHUNKED + b"1;", b"x" * 64 * 1024),
    "tiny chunks": (CHUNKED, b"1\r\na\r\n" * 10_000),
    "trailers": (CHUNKED + b"0\r\n", b"x-trailer: y\r\n" * 5000),
    "one trailer": (CHUNKED + b"0\r\nx: ", b"y" * 64 * 1024),
    "requests": (b"", GET * 2000),
    "requests that are refused": (b"", b"GET / HTTP/9.9\r\n\r\n" * 2000),
}


@pytest.mark.long
@pytest.mark.parametrize("what", ENDLESS)
async def test_nothing_is_read_without_end(what: str) -> None:
    """Four callers send up to 64 MiB each."""
    begins, piece = ENDLESS[what]
    async with served(HttpLimits()) as server:
        assert await server.answers()
        before = memory()
        callers = [await server.call(begins) for _ in range(4)]
        sent = await asyncio.gather(*(each.flood(piece, 64 * MIB) for each in callers))
        assert max(sent) < 32 * MIB
        assert memory() - before < 40 * MIB
        assert await server.answers()


# A request that is too large, malformed, or neither; what it is answered.
LARGE: Final[dict[str, tuple[bytes, tuple[int, str] | None]]] = {
    "a head within the limit": (GET[:-2] + b"x: " + b"y" * 15_000 + b"\r\n\r\n", None),
    "a head over the limit": (GET[:-2] + b"x: " + b"y" * 16_400 + b"\r\n\r\n", TOO_LARGE),
    "a request line over the limit": (b"GET /" + b"y" * 16_400 + b" HTTP/1.1\r\nhost: x\r\n\r\n", TOO_LARGE),
    "a hundred headers": (GET[:-2] + b"x: y\r\n" * 99 + b"\r\n", None),
    "more than a hundred headers": (GET[:-2] + b"x: y\r\n" * 100 + b"\r\n", TOO_LARGE),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", MALFORMED),
    "no host, with a body": (b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nab", MALFORMED),
    "two hosts": (GET[:-2] + b"Host: y\r\n\r\n", MALFORMED),
    "an empty host": (b"GET / HTTP/1.1\r\nhost:\r\n\r\n", None),
    "no host, before there were hosts": (b"GET / HTTP/1.0\r\n\r\n", None),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", MALFORMED),
    "two lengths": (POST[:-2] % 1 + b"content-length: 2\r\n\r\nab", MALFORMED),
    "a length and chunks": (POST[:-2] % 1 + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n", MALFORMED),
    "a chunk of no number": (CHUNKED + b"zz\r\n", MALFORMED),
    "a body in chunks behind a head": (CHUNKED + b"a;x=y\r\n0123456789\r\n0\r\nx-trailer: z\r\n\r\n", None),
    "an upgrade": (GET[:-2] + b"connection: upgrade\r\nupgrade: h2c\r\n\r\n", None),
    "an upgrade with a body": (POST[:-2] % 2 + b"connection: upgrade\r\nupgrade: websocket\r\n\r\nab", None),
    "a tunnel": (b"CONNECT example:443 HTTP/1.1\r\nhost: x\r\n\r\n", MALFORMED),
}


@pytest.mark.parametrize("what", LARGE)
async def test_a_request_is_taken_or_told_why_not(what: str) -> None:
    sent, outcome = LARGE[what]
    async with served(HttpLimits()) as server:
        answer = await (await server.call(sent)).answer()
        if outcome is None:
            assert answer[0] == 200
        else:
            assert problem(answer) == outcome
        assert server.trailers == [], "a trailer is no header"
        assert await server.answers()


async def test_400_requests_that_never_end_are_told_and_closed() -> None:
    halves = [GET[:-2], GET[:5], POST % 10 + b"x", CHUNKED + b"5\r\nabc"]
    async with served(HttpLimits(connections_per_address=0), clock_stopped=True) as server:
        late = {reason: refused(reason) for reason in ("head_too_slow", "body_too_slow")}
        callers = [await server.call(halves[number % 4]) for number in range(400)]
        assert await server.answers()
        server.clock.forward(BODY_S + 1)
        assert {problem(answer) for answer in await asyncio.gather(*(each.answer() for each in callers))} == {TOO_SLOW}
        server.clock.forward(BODY_S)  # the last words are read by now
        assert {await each.rest() for each in callers} == {b""}
        assert {reason: refused(reason) - before for reason, before in late.items()} == {
            "head_too_slow": 200,
            "body_too_slow": 200,
        }
        assert await server.answers()
        assert server.bodies == [0, 0]


async def drip(server: Served, caller: Caller, letters: bytes, every_s: float) -> None:
    for letter in letters:
        caller.writer.write(bytes([letter]))
        assert await server.answers()
        server.clock.forward(every_s)


async def test_a_body_that_drips_is_not_kept_alive_by_dripping() -> None:
    async with served(HttpLimits(), clock_stopped=True) as server:
        slow = await server.call(POST % 1000)
        await drip(server, slow, b"xxx", BODY_S / 2)
        assert problem(await slow.answer()) == TOO_SLOW


async def test_a_head_that_drips_is_not_kept_alive_by_dripping() -> None:
    """Nor by an answered request before it."""
    async with served(HttpLimits(), clock_stopped=True) as server:
        slow = await server.call(GET)
        assert await slow.answer() == (200, b"0")
        await drip(server, slow, GET[:3], HEAD_S / 2)
        assert problem(await slow.answer()) == TOO_SLOW


async def test_a_connection_that_says_nothing_is_closed() -> None:
    async with served(HttpLimits(idle_s=1), clock_stopped=True) as server:
        silent, idle = await server.call(), await server.call(GET)
        assert await idle.answer() == (200, b"0")
        server.clock.forward(HEAD_S + 1)
        async with asyncio.timeout(20):
            assert (await silent.rest(), await idle.rest()) == (b"", b"")


async def test_a_caller_that_does_not_read_its_answer_is_cut_off() -> None:
    async with served(HttpLimits(), clock_stopped=True) as server:
        stuck = refused("reader_too_slow")
        caller = await server.call(b"GET /long HTTP/1.1\r\nhost: x\r\n\r\n")
        caller.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport that reads, too
        assert await server.answers()
        server.clock.forward(BODY_S + 1)

        async def cut_off() -> bool:
            return refused("reader_too_slow") == stuck + 1

        await until(cut_off)
        assert await server.answers()


async def test_a_slow_answer_of_ours_is_nobody_elses_fault() -> None:
    """It takes longer than a caller may; meanwhile a large request stands in the line, most of it unread."""
    async with served(HttpLimits(), clock_stopped=True) as server:
        caller = await server.call(b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n" + POST % MIB)
        caller.writer.write(b"x" * MIB)
        await server.later(3 * BODY_S)
        server.open_gate.set()
        assert [await caller.answer(), await caller.answer()] == [(200, b"0"), (200, b"%d" % MIB)]


async def test_who_waits_for_a_slow_answer_of_ours_has_all_of_the_time_afterwards() -> None:
    """Also when the answer comes shortly before what stands behind it would have been due; and no more than that."""
    most = b"x" * (MIB - 1)
    async with served(HttpLimits(), clock_stopped=True) as server:
        caller = await server.call(b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n" + POST % MIB + most)
        slower = await server.call(b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n" + POST % MIB + most)
        await server.later(BODY_S - 1)
        server.open_gate.set()
        assert [await each.answer() for each in (caller, slower)] == [(200, b"0")] * 2

        async def have_been_read() -> bool:
            return sum(server.pieces) == 2 * len(most)

        await until(have_been_read)
        await server.later(BODY_S - 1)
        caller.writer.write(b"x")
        assert await caller.answer() == (200, b"%d" % MIB)
        server.clock.forward(2)
        assert problem(await slower.answer()) == TOO_SLOW


@pytest.mark.long
async def test_one_address_has_a_number_of_connections() -> None:
    async with served(HttpLimits(head_s=0, connections_per_address=50)) as server:
        before = refused("connections_of_address")
        callers = await asyncio.gather(*(server.call() for _ in range(1000)), return_exceptions=True)
        opened = [each for each in callers if isinstance(each, Caller)]

        async def ended() -> bool:
            return refused("connections_of_address") == before + 950

        await until(ended)
        for each in opened:
            each.writer.close()

        async def left() -> bool:
            return _open_connections() == 0

        await until(left)
        assert await server.answers()


async def test_all_together_have_a_number_of_connections() -> None:
    async with served(HttpLimits(connections=20, connections_per_address=0)) as server:
        before = refused("connections")
        kept = [await server.call(GET) for _ in range(20)]
        assert {await each.answer() for each in kept} == {(200, b"0")}
        over = [await server.call(GET) for _ in range(5)]
        assert [await each.rest() for each in over] == [b""] * 5
        assert refused("connections") == before + 5
        kept[0].writer.write(GET)
        assert await kept[0].answer() == (200, b"0")
        kept[1].writer.close()

        async def room() -> bool:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                return await server.answers()
            return False

        await until(room)


async def test_requests_in_a_row_are_answered_in_order_up_to_a_number() -> None:
    async with served(HttpLimits()) as server:
        few = await server.call(b"".join(POST % length + b"x" * length for length in range(10)))
        assert [await few.answer() for _ in range(10)] == [(200, str(length).encode()) for length in range(10)]
        many = await server.call(GET * 1000)
        assert (await many.rest()).count(b"HTTP/1.1 200") == 1 + HttpLimits().pipelined
        assert await server.answers()


async def test_a_fault_behind_a_request_leaves_its_answer_whole() -> None:
    async with served(HttpLimits()) as server:
        caller = await server.call(b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\nno HTTP at all\r\n\r\n")
        assert await server.answers()
        server.open_gate.set()
        answer: Any = await caller.rest()
        assert answer.count(b"HTTP/1.1") == 1
        assert answer.endswith(b"\r\n\r\n0")


def _open_connections() -> float:
    return float(next(iter(API_CONNECTIONS.collect())).samples[0].value)
