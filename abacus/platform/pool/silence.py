"""Servers that have gone silent: they keep nobody waiting.

A statement that is not answered may be a long one, or wait for a lock. So its server is asked for a session of its own:
one that gives none either is away. What waits for it is cut off then and nobody else tries, until it answers again.
docs/adr/0075 has the reasons.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

import asyncpg
import structlog

from abacus.core.backoff import Backoff

SILENT_AFTER_S: Final = 1.0  # a statement without an answer makes its caller wonder
ANSWERS_WITHIN_S: Final = 2.5  # a server that is there, also while it is busy

_AGAIN: Final = Backoff(0.5, 4.0)
_RNG: Final = random.Random()
_NOT_NOW: Final = "57P0"  # it is shutting down, or starting up

# What a statement raises whose session ends: asyncpg goes on with nothing in the place of its protocol.
_CUT_OFF: Final = (asyncpg.ConnectionDoesNotExistError, AttributeError)

log = structlog.get_logger(__name__)

Ask = Callable[[], Awaitable[None]]


class Watch:
    """Whether one server is there. `ask` has a word with it in a session of its own; `cut` ends all others."""

    def __init__(self, server: str, ask: Ask, cut: Callable[[], None], *, noted: Callable[[int], None]) -> None:
        """`noted` is told 1 when the server is away, and -1 when it is back."""
        self.server = server
        self.is_away = False
        self._ask = ask
        self._cut = cut
        self._noted = noted
        self._asking: asyncio.Task[None] | None = None
        self._heard_at = 0.0

    def heard(self) -> None:
        """The server has answered somebody."""
        self._heard_at = time.monotonic()

    def refuse(self) -> None:
        """Raises `ConnectionError` while the server is away."""
        if self.is_away:
            raise ConnectionError(f"{self.server} is away: it gives no answer")

    def wonder(self) -> None:
        """Somebody waits for an answer: see whether others would get one."""
        if self._asking is None:
            self._asking = asyncio.get_running_loop().create_task(self._until_there())

    def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self._is(away=False)

    async def _until_there(self) -> None:
        attempt = 0
        try:
            while not await self._answers():
                self._is(away=True)
                attempt += 1
                await asyncio.sleep(_AGAIN.wait(attempt, _RNG))
            self._is(away=False)
        finally:
            self._asking = None

    async def _answers(self) -> bool:
        """An error that the server states is an answer, too, and so is what somebody else hears meanwhile: a server
        that is busy may let nobody in for long.
        """
        asked_at = time.monotonic()
        try:
            async with asyncio.timeout(ANSWERS_WITHIN_S):
                await self._ask()
        except asyncpg.PostgresError as error:
            return not str(error.sqlstate).startswith(_NOT_NOW)
        except (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError):
            return self._heard_at > asked_at
        return True

    def _is(self, *, away: bool) -> None:
        if away == self.is_away:
            return
        self.is_away = away
        self._noted(1 if away else -1)
        if away:
            log.warning("server is away", server=self.server, why="it gives no answer")
            self._cut()
        else:
            log.info("server is no longer waited for", server=self.server)


class StatementWatch:
    """While a statement is under way. What ends without an answer ends its session: what the server makes of it is not
    known, and a silent server would not even hear that nobody wants it any more.

    `own` watches the server of the session, if that has slices; `watches` those at which the statement may be.
    """

    __slots__ = ("_connection", "_own", "_timer", "_watches")

    def __init__(
        self, connection: asyncpg.Connection, own: Watch | None, watches: Callable[[], Iterable[Watch]]
    ) -> None:
        self._connection = connection
        self._own = own
        self._watches = watches

    def __enter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(SILENT_AFTER_S, self._wonder)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._timer.cancel()
        if kind is not None and issubclass(kind, TimeoutError | asyncio.CancelledError):
            self._connection.terminate()
        elif isinstance(error, _CUT_OFF) and self._connection.is_closed():
            silent = self._away()
            raise ConnectionError("the session was cut off" if silent is None else f"{silent.server} gave no answer")
        elif self._own is not None:
            self._own.heard()

    def _wonder(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(SILENT_AFTER_S, self._wonder)
        if self._away():
            self._connection.terminate()
        for watch in self._watches():
            watch.wonder()

    def _away(self) -> Watch | None:
        return next((watch for watch in self._watches() if watch.is_away), None)


async def asked(connect: Callable[[], Awaitable[Any]]) -> None:
    """Has a word with a server, in a session that is opened for it."""
    connection = await connect()
    try:
        await connection.execute("select")
    finally:
        with suppress(Exception):  # there is nothing to say goodbye for
            connection.terminate()
