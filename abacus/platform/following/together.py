"""Runs several tasks of one worker side by side."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

# Runs until the event is set; then the present work is finished, or cut off and done again later.
Run = Callable[[asyncio.Event], Coroutine[Any, Any, None]]


def together(*runs: Run) -> Run:
    """Runs all of them at once. When one fails, the others are cut off."""

    async def run(stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            for each in runs:
                group.create_task(each(stop))

    return run
