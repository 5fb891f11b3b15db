"""Processes that examine the ledger together, one for each core, all in the snapshot of the process that began them."""

import asyncio
import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection as pipes
from types import TracebackType
from typing import Any, Final, Self

from abacus.core.errors import Unavailable
from abacus.platform.postgres import open_pool
from abacus.proof.beside import By
from abacus.proof.examine import examine, use_examining_plans
from abacus.proof.parts import Findings, Part
from abacus.proof.sight import one_moment

_AHEAD: Final = 2  # parts for each process: one in hand, one to go on with


class Helpers:
    """Opened for as long as they are needed. `recompute` has to be picklable: it is sent to the processes."""

    def __init__(self, database_url: str, processes: int) -> None:
        self._url = database_url
        self._most = processes * _AHEAD
        self._executor = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_begin)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(cancel_futures=True)

    async def examine(self, snapshots: Mapping[str, str], parts: Sequence[Part], by: By) -> AsyncIterator[Findings]:
        under_way: set[asyncio.Future[Findings | _Down]] = set()
        waiting = deque(parts)
        try:
            while waiting or under_way:
                while waiting and len(under_way) < self._most:
                    under_way.add(self._begun(snapshots, waiting.popleft(), by))
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    findings = each.result()
                    under_way.remove(each)
                    if isinstance(findings, _Down):
                        raise Unavailable(*findings)
                    yield findings
        except BrokenProcessPool as error:
            # The executor is about to end these too, and breaks on a task that was cancelled before its turn.
            await asyncio.gather(*under_way, return_exceptions=True)
            raise Unavailable("verifying", "one of its processes was ended from outside") from error
        finally:
            for each in under_way:
                each.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    def _begun(self, *task: Any) -> "asyncio.Future[Findings | _Down]":
        return asyncio.get_running_loop().run_in_executor(self._executor, _examine, self._url, *task)


class _Down(tuple[str, str]):
    """The message of an `Unavailable`, in a form that can be sent."""

    __slots__ = ()


def _begin() -> None:
    """A process ends silently on Ctrl-C, and when the process that it helps has ended."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()  # rows make no cycles; other objects are collected after each part
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(parent: int) -> None:
    pipes.wait([parent])
    os._exit(1)


def _examine(url: str, snapshots: Mapping[str, str], part: Part, by: By) -> "Findings | _Down":
    try:
        return asyncio.run(_examine_in(url, snapshots, part, by))
    except Unavailable as error:
        return _Down((error.dependency, error.detail))
    finally:
        gc.collect()


async def _examine_in(url: str, snapshots: Mapping[str, str], part: Part, by: By) -> Findings:
    pool = await open_pool(url, size=1)
    try:
        async with one_moment(pool, snapshots) as sight:
            await use_examining_plans(sight)
            return await examine(sight, part, by)
    finally:
        await pool.close()
