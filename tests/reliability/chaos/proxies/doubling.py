"""A line between two houses on which messages come twice, the second time late."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from random import Random
from typing import Final

from starlette.types import Receive, Scope, Send

from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve
from abacus.exchanges.carriers.line import Line, NoAnswer
from abacus.exchanges.decide.contract import Answer
from abacus.exchanges.partner_sim.http import Request, cut, read_request

_AT_ONCE: Final = 256
_LIMITS: Final = HttpLimits(connections=0, connections_per_address=0)
_OF_THE_HOP: Final = ("host", "connection", "content-length", "accept-encoding", "user-agent")


class DoublingLine:
    """Passes requests on, each to the next of these servers. A share of the messages that change something comes again,
    up to `late_s` later.
    """

    def __init__(self, urls: Sequence[str], rng: Random, *, share: float, late_s: float) -> None:
        self._lines = [Line(url, to_private=True, at_once=_AT_ONCE) for url in urls]
        self._next = cycle(self._lines)
        self._rng = rng
        self._share = share
        self._late_s = late_s
        self._late: set[asyncio.Task[None]] = set()
        self.struck: Counter[str] = Counter()
        self.url = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = await read_request(scope, receive)
        if request.method != "GET" and self._rng.random() < self._share:
            task = asyncio.create_task(self._again(request, self._rng.uniform(0, self._late_s)))
            self._late.add(task)
            task.add_done_callback(self._late.discard)
        try:
            answer = await self._ask(request)
        except NoAnswer:
            await cut(send)
            return
        headers = [(b"content-type", answer.media_type.encode()), (b"content-length", b"%d" % len(answer.body))]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    async def all_arrived(self) -> None:
        """Returns when nothing comes late any more."""
        while self._late:
            await asyncio.wait(self._late)

    async def close(self) -> None:
        for each in self._late:
            each.cancel()
        for line in self._lines:
            await line.close()

    async def _again(self, request: Request, after_s: float) -> None:
        await asyncio.sleep(after_s)
        with suppress(NoAnswer):
            await self._ask(request)
            self.struck["messages doubled"] += 1

    async def _ask(self, request: Request) -> Answer:
        headers = {name: value for name, value in request.headers.items() if name not in _OF_THE_HOP}
        return await next(self._next).ask(request.method, request.target, headers, request.body)


@asynccontextmanager
async def doubled(urls: Sequence[str], rng: Random, *, share: float, late_s: float) -> AsyncIterator[DoublingLine]:
    """The line, and its own address."""
    line, stop = DoublingLine(urls, rng, share=share, late_s=late_s), asyncio.Event()
    listener = bound("127.0.0.1", 0, "the line")
    line.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    serving = asyncio.create_task(serve(line, listener, stop, _LIMITS))
    try:
        yield line
    finally:
        await line.close()
        stop.set()
        await serving
