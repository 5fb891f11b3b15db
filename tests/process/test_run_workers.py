"""Workers of one process: they end together, and one that fails takes the process with it."""

import asyncio

import pytest
from structlog.testing import capture_logs

from abacus.bootstrap import Wire
from abacus.core.errors import Refused
from abacus.platform.health import Health
from abacus.platform.settings import Settings
from abacus.platform.wiring import Run, Wiring
from abacus.process import run_workers


def wire(run: Run) -> Wire:
    async def wired(_: Wiring) -> Run:
        return run

    return wired


async def obedient(stop: asyncio.Event) -> None:
    await stop.wait()


async def failing(_: asyncio.Event) -> None:
    raise ZeroDivisionError


async def deaf(_: asyncio.Event) -> None:
    await asyncio.Event().wait()


async def running(stop: asyncio.Event, *, within_s: float = 5.0, **workers: Run) -> None:
    wires = {name: wire(run) for name, run in workers.items()}
    ended = run_workers(wires, Settings(), Health(wires), stop, health_port=None, within_s=within_s)
    await asyncio.wait_for(ended, 10)


async def test_they_end_when_they_are_told_to() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, stop.set)
    await running(stop, one=obedient, other=obedient)


async def test_one_that_fails_ends_the_others_and_is_heard() -> None:
    stop = asyncio.Event()
    with pytest.raises(ZeroDivisionError):
        await running(stop, one=obedient, other=failing)
    assert stop.is_set()


async def test_one_that_does_not_hear_is_cut_off() -> None:
    stop = asyncio.Event()
    stop.set()
    await running(stop, within_s=0.05, one=obedient, other=deaf)


async def test_what_runs_beside_it_and_fails_ends_the_worker() -> None:
    async def wired(wiring: Wiring) -> Run:
        wiring.beside(asyncio.sleep(3600))
        wiring.beside(failing(asyncio.Event()))
        return obedient

    stop = asyncio.Event()
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(run_workers({"one": wired}, Settings(), Health(["one"]), stop, health_port=None), 10)
    assert stop.is_set()


@pytest.mark.parametrize(("error", "lines"), [(Refused("ABACUS_API_PORT: taken"), 0), (ZeroDivisionError(), 1)])
async def test_what_the_operator_is_told_anyway_is_not_logged_as_a_bug(error: Exception, lines: int) -> None:
    async def refusing(_: asyncio.Event) -> None:
        raise error

    with capture_logs() as logged, pytest.raises(type(error)):
        await running(asyncio.Event(), one=refusing)
    assert [line["event"] for line in logged] == ["worker failed"] * lines
