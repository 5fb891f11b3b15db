"""Announcements: Postgres tells each process at once that a table was changed, so that its copies are read anew.

A trigger announces a change of such a table to everybody who listens, when the change is committed. A process listens
on one connection of its own, however many copies it keeps. An announcement can be lost with its connection, or in a
proxy that does not carry any, so each copy is read from time to time all the same.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from enum import StrEnum
from typing import Any, Final

import structlog

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable
from abacus.platform.postgres import Connection, passing_failures

CHANNEL: Final = "abacus_changed"

log = structlog.get_logger(__name__)


class Announced(StrEnum):
    """Tables whose changes are announced, besides the tables of documents, by the names that the triggers give."""

    PARTNERS = "partner"
    COUNTER_SETTINGS = "counter_setting"
    SEGMENTS = "segment"
    PLACES = "place"
    REGIONS = "region_edition"


class Announcements:
    """Calls back within moments of the commit of a change. Listens from the first callback on."""

    def __init__(
        self,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
        *,
        check_every_s: float = 10.0,
        answer_within_s: float = 5.0,
        backoff: Backoff | None = None,
    ) -> None:
        self._connect = connect
        self._check_every_s = check_every_s
        self._answer_within_s = answer_within_s
        self._backoff = backoff or Backoff(first_s=0.2, longest_s=5.0)
        self._rng = random.Random()
        self._callbacks: dict[str, list[Callable[[], None]]] = {}
        self._somebody_waits = asyncio.Event()

    def call(self, callback: Callable[[], None], on: str) -> None:
        """From now on, call this at each change of a table, and after a time in which an announcement may be lost."""
        self._callbacks.setdefault(on, []).append(callback)
        self._somebody_waits.set()

    async def keep_listening(self) -> None:
        """Runs until cancelled: listens, and connects again when the connection is lost. Says so once each time."""
        await self._somebody_waits.wait()
        failures = 0
        while True:
            try:
                async with passing_failures(), self._connect() as connection:
                    await connection.add_listener(CHANNEL, self._hear)
                    if failures:
                        log.info("announcements are heard again", after_failures=failures)
                    failures = 0
                    self._call_all()  # earlier changes were announced to nobody here
                    await self._until_lost(connection)
            except Unavailable as error:
                failures += 1
                if failures == 1:
                    log.warning("announcements are not heard", away=error)
                await asyncio.sleep(self._backoff.wait(failures, self._rng))

    async def _until_lost(self, connection: Connection) -> None:
        """Raises `Unavailable` when the connection has ended, or its server has gone silent."""
        ended = asyncio.Event()
        connection.add_termination_listener(lambda _: ended.set())
        while not (connection.is_closed() or ended.is_set()):
            with suppress(TimeoutError):
                async with asyncio.timeout(self._check_every_s):
                    await ended.wait()
            if not ended.is_set():
                await connection.execute("select 1", timeout=self._answer_within_s)
        raise Unavailable("announcements", "the connection is lost")

    def _hear(self, _connection: Any, _pid: int, _channel: str, announced: str) -> None:
        for callback in self._callbacks.get(announced, ()):
            callback()

    def _call_all(self) -> None:
        for callbacks in self._callbacks.values():
            for callback in callbacks:
                callback()
