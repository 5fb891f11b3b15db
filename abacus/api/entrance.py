"""The entrance of an application that takes a while to open."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from abacus.api import problems
from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.api.http.limits import HttpLimits
from abacus.api.server import serve
from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.platform.patience import unless_stopped
from abacus.platform.wiring import Run


class Entrance:
    """Answers probes from the start, and all other requests once the application is there."""

    def __init__(self, health: Health, listener: socket.socket, limits: HttpLimits) -> None:
        self._app = _starting_app(health)
        self._listener = listener
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def to(self, opening: Callable[[], Coroutine[Any, Any, ASGIApp]]) -> Run:
        """Serves the application that is opened meanwhile, until it is told to stop."""

        async def run(stop: asyncio.Event) -> None:
            serving = asyncio.ensure_future(serve(self, self._listener, stop, self._limits))
            try:
                opened = await unless_stopped(opening(), stop)
                if opened is not None:
                    self._app = opened
                await serving
            finally:
                serving.cancel()

        return run


def _starting_app(health: Health) -> ASGIApp:
    """It answers probes, and tells other callers to come again."""
    app = FastAPI(openapi_url=None)
    problems.install(app)
    app.router.routes.extend(probe_routes(health))

    @app.api_route("/{_path:path}", methods=["GET", "POST", "PUT"])
    async def starting(_path: str) -> None:
        raise Unavailable("api", "it is starting")

    return Front(app)
