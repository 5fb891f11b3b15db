"""The application of the places, asked without sockets: `python -m benchmarks.nearby_in_process KEY SECONDS`.

The process is wired as the worker is, and calls its own application, one request after the other. It prints what it
measured as lines of JSON; behind the line `ready` it is told other regions.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import uvloop
from prometheus_client import REGISTRY
from starlette.types import ASGIApp, Message, Scope

from abacus.api.nearby import wiring
from abacus.platform.health import Health
from abacus.platform.settings import read_settings
from abacus.platform.wiring import Run
from abacus.process import run_workers, stopped_by_signals
from benchmarks.memory import mib
from benchmarks.nearby_examples import queries
from workers import places

REPLACED: Final = "Entrance"  # in the module that wires the application
READY: Final = "ready"
_MADE: Final = 50_000  # requests
_HTTP_OK: Final = 200
_MEMBER: Final = b"&member_id=bob"
_OTHER: Final = b'"regions":["area-'


class Asking:
    """Stands for the entrance of the worker: asks the application for so long, and ends the process."""

    def __init__(self, key: str, seconds: float) -> None:
        self._key = key
        self._seconds = seconds
        self._queries = list(queries(_MADE))

    def __call__(self, *_: object) -> "Asking":
        return self

    def to(self, opening: Callable[[], Coroutine[Any, Any, ASGIApp]]) -> Run:
        async def run(stop: asyncio.Event) -> None:
            began = time.perf_counter()
            app = await opening()
            _tell(started_s=time.perf_counter() - began)
            await self._round(app, "/v1/nearby", self._queries)
            asked = await self._round(app, "/v1/nearby", self._queries)
            members = await self._round(app, "/v1/nearby", [each + _MEMBER for each in self._queries])
            await self._round(app, "/v1/nearby/categories", self._queries)
            categories = await self._round(app, "/v1/nearby/categories", self._queries)
            _tell(asked=asked, members=members, categories=categories, hits=_hits(), mib=mib(0))
            sys.stdout.write(f"{READY}\n")
            sys.stdout.flush()
            _tell(changed=await self._round(app, "/v1/nearby", self._queries, longest=3), mib=mib(0))
            stop.set()

        return run

    async def _round(self, app: ASGIApp, path: str, asked: Sequence[bytes], *, longest: int = 1) -> dict[str, float]:
        """Microseconds of CPU a request, the delays, and when an answer first had other regions."""
        delays, seen = list[float](), 0.0
        cpu, began = time.process_time(), time.perf_counter()
        while time.perf_counter() < began + longest * self._seconds:
            for query in asked[:100]:
                at = time.perf_counter()
                body = await _ask(app, self._key, path, query)
                delays.append(time.perf_counter() - at)
                if not seen and body.startswith(_OTHER, 1):
                    seen = time.time()
                await asyncio.sleep(0)
            asked = [*asked[100:], *asked[:100]]
        us = 1e6 * (time.process_time() - cpu) / len(delays)
        delays.sort()
        p50, p99, most = (1000 * delays[min(int(len(delays) * share), len(delays) - 1)] for share in (0.5, 0.99, 1))
        return {"us": us, "p50_ms": p50, "p99_ms": p99, "most_ms": most, "asked": len(delays), "seen": seen}


def _tell(**measured: Any) -> None:
    sys.stdout.write(f"{json.dumps(measured)}\n")
    sys.stdout.flush()


def _hits() -> float:
    """The share of answers that were there."""
    found = {
        outcome: REGISTRY.get_sample_value("abacus_cache_answers_total", {"route": "nearby.offers", "outcome": outcome})
        or 0.0
        for outcome in ("hit", "stale", "wait", "miss", "passed")
    }
    return (found["hit"] + found["stale"]) / max(1.0, sum(found.values()))


async def _ask(app: ASGIApp, key: str, path: str, query: bytes) -> bytes:
    body, status = [b""], [0]

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            status[0] = message["status"]
        else:
            body[0] = message["body"]

    await app(_scope(key, path, query), receive, send)
    if status != [_HTTP_OK]:
        raise RuntimeError(f"the answer was {status}: {body}")
    return body[0]


def _scope(key: str, path: str, query: bytes) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": [(b"host", b"api"), (b"authorization", b"Bearer " + key.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


async def main(key: str, seconds: float) -> None:
    # Production has no other way to reach the application, and needs none.
    vars(wiring)[REPLACED] = Asking(key, seconds)
    stop = asyncio.Event()
    with stopped_by_signals(stop):
        await run_workers({"places": places.wire}, read_settings(), Health(["places"]), stop, health_port=None)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], float(sys.argv[2])))
