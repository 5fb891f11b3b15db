"""Works ahead: a call that computes runs in a thread while the result of the one before it is used."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeVar

Result = TypeVar("Result")


async def one_ahead(calls: Sequence[Callable[[], Result]]) -> AsyncGenerator[Result, None]:
    """The results in order. A call is begun when the result of the one before it is handed over."""
    if not calls:
        return
    running = asyncio.ensure_future(asyncio.to_thread(calls[0]))
    try:
        for call in calls[1:]:
            result = await running
            running = asyncio.ensure_future(asyncio.to_thread(call))
            yield result
        yield await running
    finally:
        running.cancel()  # the call itself runs to its end, and nobody looks at its result
