"""What every answer tells the browser: load nothing from elsewhere, run nothing that stands in a page, keep nothing."""

from collections.abc import Mapping
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_ALWAYS: Final[Mapping[bytes, bytes]] = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}
_UNLESS_KEPT: Final = (b"cache-control", b"no-store")
_OVER_TLS: Final = (b"strict-transport-security", b"max-age=31536000")


class Guarded:
    """An application whose answers carry these headers."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._more = [*_ALWAYS.items(), *([_OVER_TLS] if secure else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                kept = any(name.lower() == b"cache-control" for name, _ in headers)
                message["headers"] = [*headers, *self._more, *([] if kept else [_UNLESS_KEPT])]
            await send(message)

        await self._app(scope, receive, answer if scope["type"] == "http" else send)
