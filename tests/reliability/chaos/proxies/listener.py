"""HTTP/1.1 on loopback, as far as clients of SQS speak it, and with a way to leave a request unanswered."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from tests.support.closing import close_to_new

HOST: Final = "127.0.0.1"


class Request(NamedTuple):
    """A request over HTTP. The names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


# None cuts the connection instead. Cancelled when the client has gone meanwhile.
Answering = Callable[[Request], Awaitable[Answer | None]]


@contextlib.asynccontextmanager
async def listening(answering: Answering) -> AsyncIterator[str]:
    """Serve on a port that the kernel picks; yields the address."""
    talking: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talking[writer] = asyncio.current_task()
        try:
            await _converse(reader, writer, answering)
        finally:
            del talking[writer]
            writer.transport.abort()

    server = await asyncio.start_server(connected, HOST, 0)
    try:
        yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        await close_to_new(server)
        tasks = [task for task in talking.values() if task is not None]
        for writer in list(talking):
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answering: Answering) -> None:
    """Serve one request after the other, until one is not answered or the client is gone."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while True:
            answer = await _unless_gone(answering(await _next_request(reader)), reader)
            if answer is None:
                return
            headers = {**answer.headers, "content-length": str(len(answer.body))}
            lines = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
            writer.write("\r\n".join(lines).encode("latin-1") + answer.body)
            await writer.drain()


async def _next_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    fields = (line.partition(":") for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, _, value in fields}
    return Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


async def _unless_gone(answer: Awaitable[Answer | None], reader: asyncio.StreamReader) -> Answer | None:
    """The answer, or None when the client has gone before it: no client sends anything else before its answer."""
    answering, gone = asyncio.ensure_future(answer), asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
        return answering.result() if answering.done() else None
    finally:
        answering.cancel()
        gone.cancel()
        await asyncio.wait((answering, gone))
