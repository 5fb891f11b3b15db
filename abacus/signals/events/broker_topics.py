"""The topics that the broker has, for people who name one: read beside, so that no page waits for the broker."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Final

import structlog

from abacus.core.errors import Unavailable

_EVERY_S: Final = 60.0

log = structlog.get_logger(__name__)


class BrokerTopics:
    """As they were read last; none before that. `read` raises `Unavailable`."""

    def __init__(self, read: Callable[[], Awaitable[Collection[str]]], *, every_s: float = _EVERY_S) -> None:
        self._read = read
        self._every_s = every_s
        self.names: Collection[str] = ()

    async def look(self) -> None:
        """Raises `Unavailable`."""
        self.names = await self._read()

    async def keep_looking(self) -> None:
        """Runs until cancelled."""
        while True:
            try:
                await self.look()
            except Unavailable as error:
                log.warning("the topics of the broker are not known", away=error)
            await asyncio.sleep(self._every_s)
