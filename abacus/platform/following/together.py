"""Several things that one worker does at a time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

# Until the event is set; then the work in hand is finished, or cut off and found again.
Run = Callable[[asyncio.Event], Coroutine[Any, Any, None]]


def together(*runs: Run) -> Run:
    """All of them at a time. When one fails, the others are cut off."""

    async def run(stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            for each in runs:
                group.create_task(each(stop))

    return run
