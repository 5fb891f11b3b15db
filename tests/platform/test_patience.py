"""Waiting: for a dependency that is down, and for work until it is time to stop."""

import asyncio

import pytest

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.patience import unless_stopped, until_available

AT_ONCE = Backoff(first_s=0.0005, longest_s=0.001)


class Dependency:
    """Fails so many times, then answers; remembers the worker's state at each call."""

    def __init__(self, health: WorkerHealth, failures: int) -> None:
        self._health = health
        self._failures = failures
        self.seen: list[WorkerState] = []
        self.tried_often = asyncio.Event()

    async def ask(self) -> str:
        self.seen.append(self._health.state)
        if len(self.seen) == 3:
            self.tried_often.set()
        if len(self.seen) <= self._failures:
            raise Unavailable("database", "refused")
        return "answer"


@pytest.mark.parametrize("before", [WorkerState.STARTING, WorkerState.READY])
@pytest.mark.parametrize("failures", [0, 1, 4])
async def test_it_asks_until_it_is_answered_and_is_as_it_was(failures: int, before: WorkerState) -> None:
    health = WorkerHealth("awarder")
    if before is WorkerState.READY:
        health.ready()
    dependency = Dependency(health, failures)
    assert await until_available(dependency.ask, health, AT_ONCE) == "answer"
    assert dependency.seen == [before, *[WorkerState.WAITING] * failures]
    assert health.state is before


async def test_another_error_is_not_waited_out() -> None:
    async def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await until_available(broken, WorkerHealth("awarder"), AT_ONCE)


async def test_waiting_ends_when_it_is_cancelled() -> None:
    health = WorkerHealth("awarder")
    dependency = Dependency(health, failures=10**9)
    waiting = asyncio.create_task(until_available(dependency.ask, health, AT_ONCE))
    await dependency.tried_often.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert health.state is WorkerState.WAITING


class Work:
    """Takes so many seconds, or fails in the end; says how it ended."""

    def __init__(self, seconds: float, error: Exception | None = None) -> None:
        self._seconds = seconds
        self._error = error
        self.ended = ""

    async def do(self) -> str:
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.ended = "cut off"
            raise
        self.ended = "by itself"
        if self._error is not None:
            raise self._error
        return "result"


NEVER, AT_THE_START = 60.0, 0.0


# How long the work takes, when it is told to stop, the grace it is given; its result, and how it ended.
STOPPED: list[tuple[str, float, float, float, tuple[str | None, str]]] = [
    ("nobody says stop", 0.01, NEVER, 0.0, ("result", "by itself")),
    ("stopped, no grace", NEVER, 0.02, 0.0, (None, "cut off")),
    ("stopped before it began", NEVER, AT_THE_START, 0.0, (None, "cut off")),
    ("within the grace", 0.04, 0.01, 5.0, ("result", "by itself")),
    ("past the grace", NEVER, 0.01, 0.02, (None, "cut off")),
]


@pytest.mark.parametrize(
    ("seconds", "stop_at", "grace", "outcome"), [pytest.param(*row, id=name) for name, *row in STOPPED]
)
async def test_work_until_it_is_time_to_stop(
    seconds: float, stop_at: float, grace: float, outcome: tuple[str | None, str]
) -> None:
    work, stop = Work(seconds), asyncio.Event()
    asyncio.get_running_loop().call_later(stop_at, stop.set)
    async with asyncio.timeout(10):
        result = await unless_stopped(work.do(), stop, grace_s=grace)
    assert (result, work.ended) == outcome


@pytest.mark.parametrize("grace", [0.0, 5.0])
async def test_an_error_of_the_work_is_not_lost(grace: float) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(0.005 if grace else NEVER, stop.set)
    with pytest.raises(ZeroDivisionError):
        await unless_stopped(Work(0.02, ZeroDivisionError()).do(), stop, grace_s=grace)


async def test_whoever_is_cancelled_takes_the_work_along() -> None:
    work = Work(NEVER)
    waiting = asyncio.create_task(unless_stopped(work.do(), asyncio.Event()))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert (waiting.cancelled(), work.ended) == (True, "cut off")
