"""The application of the offers, asked without sockets: `python -m benchmarks.offers_in_process KEY MEMBERS SECONDS`.

The process is wired as the worker is, and calls its own application. The last line that it prints has the
microseconds of processor time for a request of one product, and of a page of them, as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import uvloop
from starlette.types import ASGIApp, Message, Scope

from abacus.api.offers import wiring
from abacus.platform.health import Health
from abacus.platform.settings import read_settings
from abacus.platform.wiring import Run
from abacus.process import run_workers, stopped_by_signals
from benchmarks.offer_questions import LISTED, bodies
from workers import offers

REPLACED: Final = "Entrance"  # in the module that wires the application
CALLERS: Final = 32
_MADE: Final = 20_000  # requests, before any is asked
_HTTP_OK: Final = 200


class Asking:
    """Stands for the entrance of the worker: asks the application for so long, and ends the process."""

    def __init__(self, key: str, members: int, seconds: float) -> None:
        self._key = key
        self._members = members
        self._seconds = seconds
        self.took_us: dict[str, float] = {}

    def __call__(self, *_: object) -> "Asking":
        return self

    def to(self, opening: Callable[[], Coroutine[Any, Any, ASGIApp]]) -> Run:
        async def run(stop: asyncio.Event) -> None:
            app = await opening()
            self.took_us = {"one": await self._cpu_us(app, 1), "page": await self._cpu_us(app, LISTED)}
            stop.set()

        return run

    async def _cpu_us(self, app: ASGIApp, items: int) -> float:
        """Of a request with so many items, once the members who ask again and again are known."""
        made = islice(bodies(self._members, items), _MADE // items)
        contents = [json.dumps(body).encode() for body in made]
        await self._round(app, contents, self._seconds / 2)
        return await self._round(app, contents, self._seconds)

    async def _round(self, app: ASGIApp, contents: Sequence[bytes], seconds: float) -> float:
        left = _until(time.monotonic() + seconds, contents)

        async def caller() -> int:
            done = 0
            for content in left:
                await _ask(app, self._key, content)
                done += 1
            return done

        began = time.process_time()
        asked = sum(await asyncio.gather(*(caller() for _ in range(CALLERS))))
        return 1e6 * (time.process_time() - began) / asked


def _until(moment: float, contents: Sequence[bytes]) -> Iterator[bytes]:
    while True:
        for content in contents:
            if time.monotonic() >= moment:
                return
            yield content


async def _ask(app: ASGIApp, key: str, content: bytes) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    status: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    await app(_scope(key, len(content)), receive, send)
    if status != [_HTTP_OK]:
        raise RuntimeError(f"the answer was {status}")


def _scope(key: str, length: int) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/v1/offers/qualify",
        "raw_path": b"/v1/offers/qualify",
        "query_string": b"",
        "root_path": "",
        "headers": [
            (b"host", b"api"),
            (b"authorization", b"Bearer " + key.encode()),
            (b"content-type", b"application/json"),
            (b"content-length", str(length).encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


async def main(key: str, members: int, seconds: float) -> None:
    # Production has no other way to reach the application, and needs none.
    vars(wiring)[REPLACED] = asking = Asking(key, members, seconds)
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await run_workers({"offers": offers.wire}, read_settings(), Health(["offers"]), stop, health_port=None)
    sys.stdout.write(json.dumps(asking.took_us))  # behind the log


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
