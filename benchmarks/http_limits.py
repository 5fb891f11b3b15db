"""The HTTP server with its limits, beside uvicorn's own on httptools and on h11: the processor time of a request.

The application reads a body and answers after a few milliseconds, as the API does; so the difference is the server's.
"""

import asyncio
import statistics
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import repeat
from typing import Final, NamedTuple

import psutil
import uvicorn
import uvloop
from starlette.types import Receive, Scope, Send

from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve
from benchmarks.api import CALLERS, load, request
from benchmarks.report import Figure

LIMITS: Final = "limits"
OWN: Final = ("httptools", "h11")  # uvicorn's
SECONDS: Final = 2.0  # a round
ROUNDS: Final = 8
MOST_MORE: Final = 0.1  # of the processor time of uvicorn on httptools

_BODY: Final = {"member_id": "bob", "country": "SG", "points": 100, "reason": "Welcome"}
_ANSWER: Final = b'{"status": "queued"}'
_TAKES_S: Final = 0.005


class _Server(NamedTuple):
    """A server in a process of its own."""

    process: psutil.Process
    port: int

    @property
    def spent_s(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)


async def measure() -> list[Figure]:
    """In turns, so that what else runs on the machine strikes all of them."""
    spent_us: dict[str, list[float]] = {name: [] for name in (LIMITS, *OWN)}
    async with AsyncExitStack() as stack:
        servers = {name: await stack.enter_async_context(_served(name)) for name in spent_us}
        for server in servers.values():
            await load(server.port, _requests(), CALLERS, SECONDS / 4)
        for _ in range(ROUNDS):
            for name, server in servers.items():
                before = server.spent_s
                answered = len((await load(server.port, _requests(), CALLERS, SECONDS)).latencies_s)
                spent_us[name].append((server.spent_s - before) / answered * 1e6)
    limits, httptools, h11 = (statistics.median(each) for each in spent_us.values())
    return [
        Figure("HTTP server, uvicorn on httptools", f"{httptools:.0f} µs of the processor a request"),
        Figure("… on h11", f"{h11:.0f} µs", f"{h11 / httptools:.1f} times"),
        Figure(
            "… on httptools, with limits",
            f"{limits:.0f} µs",
            f"{limits / httptools:.2f} times",
            f"< {1 + MOST_MORE:.1f} times",
            limits < httptools * (1 + MOST_MORE),
            anywhere=True,
        ),
    ]


def _requests() -> Iterator[bytes]:
    return repeat(request("POST", "/v1/awards", "abk_live_" + "k" * 32, _BODY, "idempotency-key: s-1\r\n"))


@asynccontextmanager
async def _served(name: str) -> AsyncIterator[_Server]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.http_limits", name, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None  # noqa: S101  # it is piped
        yield _Server(psutil.Process(process.pid), int(await process.stdout.readline()))
    finally:
        process.kill()
        await process.wait()


async def _app(_scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await asyncio.sleep(_TAKES_S)
    headers = [(b"content-length", str(len(_ANSWER)).encode()), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 202, "headers": headers})
    await send({"type": "http.response.body", "body": _ANSWER})


async def _serve(name: str) -> None:
    with bound("127.0.0.1", 0, "a free port") as listener:
        print(listener.getsockname()[1], flush=True)
        if name == LIMITS:
            await serve(_app, listener, asyncio.Event(), HttpLimits())
        else:
            config = uvicorn.Config(_app, http=name, log_config=None, access_log=False, lifespan="off")
            await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    uvloop.run(_serve(sys.argv[1]))
