"""Renders the templates of people in a process of its own, so that none of them holds up or breaks this one.

That process stays, warm, and is replaced when it has died. A template on which it died twice is refused, and for a
while is not tried again; the rest of a batch goes on. So neither a kill by somebody else nor a slow machine refuses a
message.
"""

import asyncio
import os
import pickle
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import takewhile
from typing import Any, Final

import orjson
import structlog

from abacus.core.errors import Unavailable
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.template import FilledTemplate, Unrenderable, Unwritten
from abacus.engage.notify.metrics import RENDERINGS
from abacus.engage.notify.rendering_child import LENGTH_BYTES, READY

CPU_S: Final = 1.0  # of the processor, for a rendering: one takes 20 µs, and the largest template 0.3 s to compile
MEMORY: Final = 128 * 1024 * 1024
_ANSWERS_WITHIN_S: Final = 20.0  # by the clock, on a machine with much else to do
_STARTS_WITHIN_S: Final = 60.0
_AT_ONCE: Final = 200
_LONGEST_LINE: Final = 1024 * 1024
_NOT_AGAIN_FOR_S: Final = 600.0
_MOST_STOPPED: Final = 1_000
_TOO_MUCH: Final = "it takes too much time or memory"
_DEPENDENCY: Final = "rendering"
_PASSED_ON: Final = ("PATH", "PYTHON", "LANG", "LC_", "LD_", "TZ", "VIRTUAL_ENV")  # nothing that is secret

log = structlog.get_logger(__name__)


class Renderer:
    """Starts its process when it is first asked. `close` it at the end."""

    def __init__(self, *, cpu_s: float = CPU_S, answers_within_s: float = _ANSWERS_WITHIN_S) -> None:
        self._limits = str(cpu_s), str(MEMORY)
        self._answers_within_s = answers_within_s
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._stopped: dict[str, float] = {}  # templates, and when each was stopped

    async def render(
        self, renderings: Sequence[FilledTemplate], *, is_trial: bool = False
    ) -> list[Words | Unrenderable]:
        """What comes of each; with `is_trial` a template is judged whole, its seldom taken branches too. Raises
        `Unavailable`.
        """
        answers: list[Words | Unrenderable] = []
        died_at = -1
        while (place := len(answers)) < len(renderings):
            some = list(takewhile(lambda each: not self._is_stopped(each.template), renderings[place:][:_AT_ONCE]))
            if not some:
                RENDERINGS.labels("refused").inc()
                answers.append(Unrenderable(_TOO_MUCH))
                continue
            async with self._lock:
                answers += await self._answers(some, is_trial=is_trial)
            if len(answers) < place + len(some):
                if died_at == len(answers):
                    self._stop(renderings[died_at].template)
                died_at = len(answers)
        return answers

    async def close(self) -> None:
        """Once it is asked nothing any more."""
        async with self._lock:
            process, self._process = self._process, None
            if process is not None:
                await _ended(process)

    async def _answers(self, renderings: Sequence[FilledTemplate], *, is_trial: bool) -> list[Words | Unrenderable]:
        """Of the first of them, up to the one at which the process died."""
        answers: list[Words | Unrenderable] = []
        process = self._process or await self._started()
        self._process = None  # what is cut off here leaves answers in it that belong to nobody
        writing = asyncio.create_task(_send(process, pickle.dumps((is_trial, list(renderings)))))
        try:
            while len(answers) < len(renderings) and (line := await self._line(process)) is not None:
                answers.append(_read(line))
            if len(answers) == len(renderings):
                await writing
                self._process = process
        finally:
            if self._process is None:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                await _ended(process)
        for each in answers:
            RENDERINGS.labels("refused" if isinstance(each, Unrenderable) else "rendered").inc()
        return answers

    async def _line(self, process: Process) -> Any:
        """None where the process has died, or is taken for dead."""
        assert process.stdout is not None  # noqa: S101  # it was opened with a pipe
        try:
            line = await asyncio.wait_for(process.stdout.readline(), self._answers_within_s)
            return orjson.loads(line) if line.endswith(b"\n") else None
        except (TimeoutError, ValueError):
            return None

    async def _started(self) -> Process:
        """Raises `Unavailable`."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "abacus.engage.notify.rendering_child", *self._limits),
            stdin=PIPE,
            stdout=PIPE,
            env=_environment(),
            start_new_session=True,  # what stops this process by the keyboard lets it end its work
            limit=_LONGEST_LINE,
        )
        assert process.stdout is not None  # noqa: S101  # it was opened with a pipe
        try:
            line = await asyncio.wait_for(process.stdout.readline(), _STARTS_WITHIN_S)
            if line == READY:
                return process
        except TimeoutError:
            pass
        except BaseException:
            await _ended(process)
            raise
        await _ended(process)
        raise Unavailable(_DEPENDENCY, "the process that renders messages does not start")

    def _is_stopped(self, template: str) -> bool:
        return time.monotonic() < self._stopped.get(template, 0.0)

    def _stop(self, template: str) -> None:
        RENDERINGS.labels("killed").inc()
        log.warning("a template was stopped", why=_TOO_MUCH, begins=template[:80])
        if len(self._stopped) == _MOST_STOPPED:
            del self._stopped[next(iter(self._stopped))]
        self._stopped[template] = time.monotonic() + _NOT_AGAIN_FOR_S


@asynccontextmanager
async def rendering() -> AsyncIterator[Renderer]:
    renderer = Renderer()
    try:
        yield renderer
    finally:
        await renderer.close()


def _environment() -> dict[str, str]:
    """What a Python needs that imports what this one can import."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _read(answer: Any) -> Words | Unrenderable:
    if "fault" not in answer:
        return Words(answer["title"], answer["text"])
    return (Unwritten if answer["kind"] == "unwritten" else Unrenderable)(answer["fault"])


async def _send(process: Process, frame: bytes) -> None:
    assert process.stdin is not None  # noqa: S101  # it was opened with a pipe
    with suppress(BrokenPipeError, ConnectionResetError):  # it has died, and answers nothing more
        process.stdin.write(len(frame).to_bytes(LENGTH_BYTES) + frame)
        await process.stdin.drain()


async def _ended(process: Process) -> None:
    with suppress(ProcessLookupError):  # it has ended by itself
        process.kill()
    await process.wait()
    assert process.stdin is not None  # noqa: S101  # it was opened with a pipe
    process.stdin.close()
    with suppress(BrokenPipeError, ConnectionResetError):  # of what it did not read any more
        await process.stdin.wait_closed()
