"""Serves an application on a port until told to stop."""

import asyncio
import contextlib
import resource
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from abacus.api.http.crowd import Crowd
from abacus.api.http.limits import HttpLimits
from abacus.api.http.protocol import LimitedProtocol
from abacus.core.errors import Refused

_OF_OURS: Final = 128  # file descriptors for the other connections of this process


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
    # Its connections inherit it: a part of an answer shall not wait, some 40 ms, until the caller has acknowledged the
    # part before. (uvloop sees to that itself, asyncio only for sockets of its own.)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def serve(
    app: ASGIApp,
    listener: socket.socket,
    stop: asyncio.Event,
    limits: HttpLimits,
    monotonic: Callable[[], float] = time.monotonic,
) -> None:
    """Serves until `stop` is set."""
    limits = _within_reach(limits)
    crowd = Crowd(limits)
    config = uvicorn.Config(
        app,
        http=partial(LimitedProtocol, limits=limits, crowd=crowd, monotonic=monotonic),  # type: ignore[arg-type]  # it is called, no more
        ws="none",
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
    keeping_time = asyncio.ensure_future(crowd.keep_time(monotonic))
    try:
        await asyncio.wait((serving, stopping, keeping_time), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        server.should_exit = True
        await serving
    finally:
        keeping_time.cancel()


def _within_reach(limits: HttpLimits) -> HttpLimits:
    """No more connections than the process may open files: beyond that nothing could be opened any more."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return limits
    most = max(1, files - _OF_OURS)
    return limits._replace(connections=min(limits.connections or most, most))
