"""A TCP proxy that a test can cut and mend: how a service looks when it goes away and comes back."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from tests.support.closing import close_to_new


class Proxy:
    """Passes bytes to the service while it is up; cut, it drops every connection and refuses new ones; silent, it
    keeps them all, takes new ones, and passes nothing on.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._server: asyncio.Server | None = None
        self._reserved: socket.socket | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._port = 0
        self._speaking = asyncio.Event()
        self._speaking.set()

    @property
    def port(self) -> int:
        return self._port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def through(self, url: str) -> str:
        """The address of the service, by way of here."""
        parts = urlsplit(url)
        user = f"{parts.username}@" if parts.username else ""
        return parts._replace(netloc=f"{user}{self.address}").geturl()

    def silence(self) -> None:
        self._speaking.clear()

    def speak(self) -> None:
        self._speaking.set()

    async def mend(self) -> None:
        listening = self._reserved or _bound(self._port)
        self._reserved = None
        self._server = await asyncio.start_server(self._connected, sock=listening)
        self._port = listening.getsockname()[1]

    async def cut(self) -> None:
        """The port stays ours, so that nobody else answers there meanwhile."""
        if self._server is not None:
            await close_to_new(self._server)
            self._server = None
            self._reserved = _bound(self._port)
        self.cut_all()

    async def close(self) -> None:
        await self.cut()
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None

    def cut_all(self) -> None:
        """Drop every connection; new ones are taken as before."""
        for writer in list(self._open):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            upstream, downstream = await asyncio.open_connection(*self._target)
            try:
                await self._converse(reader, writer, upstream, downstream)
            finally:
                downstream.transport.abort()
        except OSError:  # the service is away, and the client sees it go
            pass
        finally:
            self._open.remove(writer)
            writer.transport.abort()

    async def _converse(
        self,
        from_client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        from_server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        """Pass bytes on until either side is gone."""
        await asyncio.gather(self._pass_on(from_client, to_server), self._pass_on(from_server, to_client))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._speaking.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@contextlib.asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy in front of the service at the address, and the address that leads through it."""
    parts = urlsplit(url)
    proxy = Proxy(parts.hostname or "127.0.0.1", parts.port or 5432)
    await proxy.mend()
    try:
        yield proxy, proxy.through(url)
    finally:
        proxy.speak()
        await proxy.close()


def _bound(port: int) -> socket.socket:
    """Whoever connects is refused until somebody listens."""
    reserved = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", port))
    return reserved
