"""A listener answers, cuts, and lets go of clients that have left."""

import asyncio

import httpx
import pytest

from tests.reliability.chaos.proxies.listener import HOST, Answer, Request, listening


async def test_requests_are_answered_over_one_connection() -> None:
    async def echo(request: Request) -> Answer:
        return Answer(200, {"request": f"{request.method} {request.path}"}, request.body)

    async with listening(echo) as url, httpx.AsyncClient(trust_env=False) as client:
        answers = [await client.post(f"{url}/{number}", content=b"x" * number) for number in (0, 1, 200_000)]
    assert [(answer.headers["request"], len(answer.content)) for answer in answers] == [
        ("POST /0", 0),
        ("POST /1", 1),
        ("POST /200000", 200_000),
    ]


async def test_no_answer_is_a_connection_that_is_cut() -> None:
    async def nothing(_: Request) -> None:
        return None

    async with listening(nothing) as url, httpx.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx.TransportError):
            await client.get(url)


async def test_who_has_left_is_not_answered_any_more() -> None:
    handling, let_go = asyncio.Event(), asyncio.Event()

    async def never(_: Request) -> None:
        handling.set()
        try:
            await asyncio.Event().wait()
        finally:
            let_go.set()

    async with listening(never) as url:
        _, writer = await asyncio.open_connection(HOST, int(url.rpartition(":")[2]))
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await handling.wait()
        writer.close()
        await asyncio.wait_for(let_go.wait(), 30)
