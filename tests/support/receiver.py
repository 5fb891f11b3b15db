"""A receiver of webhooks that keeps the requests, and answers as the test says."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import orjson

from abacus.platform.delivery.decide.signature import sign
from tests.support.closing import close_to_new


class Request(NamedTuple):
    """A request that was posted. The names of headers are in small letters."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def is_signed_with(self, *secrets: str) -> bool:
        """Whether the request has the signatures of all these secrets, and no other."""
        timestamp = int(self.headers["webhook-timestamp"])
        signatures = self.headers["webhook-signature"].split(" ")
        return signatures == [sign(secret, self.id, timestamp, self.body) for secret in secrets]


class Receiver:
    """A server on a port of its own; while it is down, it refuses connections."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.answer = b"HTTP/1.1 204 No Content\r\n\r\n"
        self.goes_on = asyncio.Event()  # an answer waits for this
        self.goes_on.set()
        self.most_at_once = 0
        self._at_once = 0
        self._tls = tls
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks?for=acme"

    @property
    def ids(self) -> list[str]:
        return [request.id for request in self.requests]

    def answers(self, status: str, *headers: str, body: str = "") -> None:
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", body]
        self.answer = "\r\n".join(lines).encode()

    async def up(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        if self._server is not None:
            await close_to_new(self._server)
            self._server = None

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers["content-length"]))
            self.requests.append(Request(head[0], headers, body))
            await self.goes_on.wait()
            writer.write(self.answer)
            with contextlib.suppress(OSError):
                await writer.drain()
        finally:
            self._at_once -= 1
            writer.close()


@contextlib.asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver(tls)
    await receiver.up()
    try:
        yield receiver
    finally:
        receiver.goes_on.set()
        await receiver.down()
