"""Serves an application on a port until told to stop."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from abacus.core.errors import Refused


class _Server(uvicorn.Server):
    """Leaves the signals to the process that runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bound(host: str, port: int, settings: str) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises `Refused` with the names of the settings when the port is
    taken or the host is not this machine's.
    """
    try:
        listener = socket.create_server((host, port), backlog=512)
    except OSError as error:
        raise Refused(f"{settings}: cannot listen on {host}:{port}: {error.strerror}") from error
    # Its connections inherit it: an answer's head and body leave one by one, and the body shall not wait, some 40 ms,
    # until the caller has acknowledged the head. (uvloop sees to that itself, asyncio only for sockets of its own.)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def serve(app: ASGIApp, listener: socket.socket, stop: asyncio.Event) -> None:
    """Serves until `stop` is set."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    server.should_exit = True
    await serving
