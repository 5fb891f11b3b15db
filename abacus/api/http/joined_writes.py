"""A transport on which the head and the body of an answer leave together.

uvicorn writes the one after the other, and each write is a call of the system, which costs more than most of what an
answer takes. To wait for the end of the loop's turn would cost another turn for an answer that is under way alone.
"""

import asyncio
from typing import Any, Final

_HEAD: Final = b"HTTP/1.1 "
_KNOWN_LENGTH: Final = b"\r\ncontent-length: "


class JoinedWrites:
    """A head that tells the length of its body waits for the body, or for `leave`. In all else it is the transport."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._head and data.startswith(_HEAD) and _KNOWN_LENGTH in data:
            self._head = data
        else:
            self._leave(data)

    def leave(self) -> None:
        """The answer is complete."""
        if self._head:
            self._leave(b"")

    def write_eof(self) -> None:
        self.leave()
        self._transport.write_eof()

    def close(self) -> None:
        self.leave()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _leave(self, data: bytes) -> None:
        head, self._head = self._head, b""
        if not self._transport.is_closing():
            self._transport.write(head + data)
