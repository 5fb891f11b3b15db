"""One way to call both clients, so that each test holds for either."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import ParamSpec, TypeVar, cast

from abacus_client import AsyncClient, Client

EitherClient = Client | AsyncClient

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


async def ask(
    method: Callable[Given, Answer] | Callable[Given, Awaitable[Answer]], *args: Given.args, **kwargs: Given.kwargs
) -> Answer:
    """Call the method; a blocking one gets a thread, because the API that it calls may run on this loop."""
    if asyncio.iscoroutinefunction(method):
        return cast("Answer", await method(*args, **kwargs))
    return cast("Answer", await asyncio.to_thread(method, *args, **kwargs))


async def listed(answers: Iterator[Answer] | AsyncIterator[Answer]) -> list[Answer]:
    if isinstance(answers, AsyncIterator):
        return [each async for each in answers]
    return await asyncio.to_thread(list, answers)


async def closed(client: EitherClient) -> None:
    if isinstance(client, AsyncClient):
        await client.aclose()
    else:
        client.close()
