"""A transport whose writes of one turn of the loop leave together.

uvicorn writes the head and the body of an answer one by one, and each write is a call of the system, which costs more
than most of what an answer takes.
"""

import asyncio
from typing import Any, Final

_MOST_HELD: Final = 64 * 1024  # bytes; the transport says itself when it has more than it can send


class JoinedWrites:
    """In all else it is the transport."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._held: list[bytes] = []
        self._bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._held:
            self._loop.call_soon(self._leave)
        self._held.append(data)
        self._bytes += len(data)
        if self._bytes > _MOST_HELD:
            self._leave()

    def write_eof(self) -> None:
        self._leave()
        self._transport.write_eof()

    def close(self) -> None:
        self._leave()
        self._transport.close()

    def _leave(self) -> None:
        held, self._held, self._bytes = self._held, [], 0
        if held and not self._transport.is_closing():
            self._transport.write(b"".join(held))
