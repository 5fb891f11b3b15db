"""uvicorn's protocol on httptools, which has no limits of its own, with the limits of `HttpLimits`.

docs/adr/0039 says why it is this one. It relies on these parts of uvicorn's class: the callbacks of the parser and of
an answer that is complete, `cycle`, `pipeline`, `flow`, `transport`, and that an answer ends the connection when its
cycle's `keep_alive` is false.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import cache
from http import HTTPStatus
from typing import Any, Final

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from abacus.api.api_problem import KINDS, MEDIA_TYPE, ApiProblem
from abacus.api.http.crowd import Crowd
from abacus.api.http.joined_writes import JoinedWrites
from abacus.api.http.limits import HttpLimits
from abacus.api.metrics import API_REFUSED

_NEVER: Final = float("inf")
_LINGERS_S: Final = 1.0


class _Exceeded(Exception):
    """Stops the parser: a limit is passed, or the head is none. The text is the reason that metrics count."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limits: HttpLimits,
        crowd: Crowd,
        monotonic: Callable[[], float],
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        self._crowd = crowd
        self._monotonic = monotonic
        self._head_due_in = limits.head_s or _NEVER
        self._body_due_in = limits.body_s or _NEVER
        self._idle_for = limits.idle_s or _NEVER
        # A head is being read from the end of one request to the end of the next head, then a body.
        self._in_body = False
        self._turns = 0  # how often the one became the other
        self._whole = 0  # bytes received since the last turn, without bytes received together with it
        self._last = 0  # bytes received last
        self._content = 0  # bytes of the body
        self._framing = 0  # bytes around the body's
        self._due = _NEVER  # when what is being read has to be complete
        self._unread_since = _NEVER  # since when the caller does not read the answer
        self._idle_until = _NEVER  # when a connection ends on which nothing was asked any more
        self._deaf = False
        self._lingers = False
        # Where uvicorn puts trailers: a trailer is none of the headers that a proxy before us has seen.
        self._trailers: list[tuple[bytes, bytes]] = []
        self.headers = self._trailers

    # From the transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        self._writes = JoinedWrites(transport)
        super().connection_made(self._writes)  # type: ignore[arg-type]  # in all that is used of it
        if self._crowd.admit(self, self.client[0] if self.client else ""):
            self._due = self._monotonic() + self._head_due_in
        else:
            self._deaf = True
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._idle_until = _NEVER
        self._last = len(data)
        turns, content = self._turns, self._content
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            cause = error.__context__
            self._refuse(str(cause) if isinstance(cause, _Exceeded) else "malformed")
        except httptools.HttpParserError:
            self._refuse("malformed")
        except httptools.HttpParserUpgrade:  # we speak nothing else: the request is answered, and that is all
            self._hear_no_more()
        else:
            if self._turns == turns:
                self._account(len(data), self._content - content)
            else:
                self._whole = self._content = self._framing = 0
                self._due = _NEVER
                if self._in_body or self.headers is not self._trailers:
                    self._set_due()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_since = self._monotonic()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread_since = _NEVER

    # From the parser

    def on_headers_complete(self) -> None:
        limits, headers = self._limits, self.headers
        if len(headers) > limits.headers or (
            self._whole + self._last > limits.head_bytes and _length(self.url, headers) > limits.head_bytes
        ):
            raise _Exceeded("head_too_large")
        if self.pipeline and len(self.pipeline) >= limits.pipelined:
            raise _Exceeded("pipelined")
        hosts = [name for name, _ in headers].count(b"host")
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):  # RFC 9112, 3.2
            raise _Exceeded("malformed")
        super().on_headers_complete()
        self.headers = self._trailers
        self._in_body = True
        self._turns += 1

    def on_body(self, body: bytes) -> None:
        self._content += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._trailers.clear()
        self._in_body = False
        self._turns += 1

    # From the answer

    def on_response_complete(self) -> None:
        """As uvicorn's, which sets a timer for each request: here the crowd looks at the time."""
        self._writes.leave()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self._idle_until = self._monotonic() + self._idle_for

    # Limits

    @property
    def _begun(self) -> bool:
        """Whether a part of a head is there."""
        return self.headers is not self._trailers

    def _account(self, received: int, content: int) -> None:
        """Counts what was received last, of which so much is content; no head and no body ended in it."""
        self._whole += received
        if self._in_body:
            self._framing += received - content
            if self._framing > self._limits.framing_bytes + self._content:
                self._refuse("framing")
            elif self._content > self._limits.discarded_bytes:
                self._refuse("body_too_large")
        elif self._whole > self._limits.head_bytes:
            self._refuse("head_too_large")
        if self._due == _NEVER:
            self._set_due()

    def _set_due(self) -> None:
        self._due = self._monotonic() + (self._body_due_in if self._in_body else self._head_due_in)

    def end_if_overdue(self, now: float) -> None:
        """Ends the connection of a caller who takes too long to send a request or to read an answer."""
        if now - self._unread_since > self._body_due_in:
            API_REFUSED.labels("reader_too_slow").inc()
            self.transport.abort()
        elif self._lingers:
            if now > self._due:
                self.transport.abort()
        elif now > self._idle_until:
            self.transport.close()
        elif self.flow.read_paused:  # it is we who do not read: the caller has all of the time when we do again
            if self._due != _NEVER:
                self._set_due()
        elif now > self._due:
            self._refuse("body_too_slow" if self._in_body else "head_too_slow")

    def _refuse(self, reason: str) -> None:
        """Answers with the problem, where no other answer is under way, and ends the connection."""
        API_REFUSED.labels(reason).inc()
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not self._in_body and is_answering:
            self._hear_no_more()  # what came before is answered
            return
        self._deaf = True
        if is_answering:
            can_answer = not self.pipeline and not self.cycle.response_started
            self.cycle.disconnected = True  # to the application the caller has hung up
            self.cycle.message_event.set()
        else:
            can_answer = self._begun and not self._in_body
        if can_answer:
            self._say(_refusal(reason))
        else:
            self.transport.close()

    def _say(self, answer: bytes) -> None:
        """The last words. The connection stays for a moment, unread: to close it while the caller sends would take them
        from the caller.
        """
        self.transport.write(answer)
        self.transport.write_eof()
        self.flow.pause_reading()
        self._lingers = True
        self._due = self._monotonic() + _LINGERS_S

    def _hear_no_more(self) -> None:
        """Leaves the requests that came whole to be answered; the last answer ends the connection."""
        self._deaf = True
        self._due = _NEVER
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
        else:
            self.cycle.keep_alive = False


_PROBLEMS: Final = {"head_too_large": "head-too-large", "head_too_slow": "too-slow", "body_too_slow": "too-slow"}


def _length(url: bytes, headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Of a head, with a colon, a space and the end of the line for each header."""
    return len(url) + sum([len(name) + len(value) + 4 for name, value in headers])


@cache
def _refusal(reason: str) -> bytes:
    kind = _PROBLEMS.get(reason, "malformed")
    status, _, _ = KINDS[kind]
    body = ApiProblem(kind).body(None)
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
