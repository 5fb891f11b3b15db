"""Waiting in a test for the work of another task in this process."""

import asyncio
from collections.abc import Callable


async def soon(reached: Callable[[], bool]) -> None:
    """Returns when the condition holds; fails when it does not within five seconds."""
    async with asyncio.timeout(5):
        while not reached():  # noqa: ASYNC110  # the task has no event for this
            await asyncio.sleep(0.001)
