"""Waiting in a test for what another task of this process does."""

import asyncio
from collections.abc import Callable


async def soon(reached: Callable[[], bool]) -> None:
    """Returns when it is so; fails when it is not within five seconds."""
    async with asyncio.timeout(5):
        while not reached():  # noqa: ASYNC110  # the task has no event for this
            await asyncio.sleep(0.001)
