"""One command in a process of its own, for the person who asked: started, watched, ended, and what it left."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final, Self

from abacus.console.errands.decide.command_output import progress_in, state_of, told_in
from abacus.console.errands.types import ErrandOutcome, State
from abacus.core.errors import Refused
from abacus.core.tokens import TokenForm, has_digest
from abacus.people.store.people import PeopleStore
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

MOST_BYTES: Final = 32 * 1024 * 1024  # of a document, and of all files together
_TAIL_BYTES: Final = 64 * 1024
_GRACE_S: Final = 5.0
_TOO_MUCH: Final = f"it wrote more than {MOST_BYTES >> 20} MiB, which is more than the console keeps"


class Command:
    """A command of the command line, in a directory of its own with its papers. Its session is its own, too: a Ctrl-C
    in the terminal does not reach it. It has ended when the block has.
    """

    def __init__(
        self, arguments: Sequence[str], papers: Mapping[str, str], keeps: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self._arguments = arguments
        self._papers = papers
        self._keeps = keeps
        self._environment = environment
        self._directory = TemporaryDirectory(prefix="abacus-errand-")
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        work = Path(self._directory.name) / "work"
        work.mkdir()
        for name, text in self._papers.items():
            (work / Path(name).name).write_text(text, encoding="utf-8")
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # it finds modules where we do, and none in its directory
                "-m",
                "abacus",
                *self._arguments,
                cwd=work,
                env={**self._environment, "PYTHONPATH": _modules()},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._stop()
        finally:
            self._directory.cleanup()

    async def ended_within(self, seconds: float) -> bool:
        assert self._process is not None  # noqa: S101  # the block has begun
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), seconds)
        return self._process.returncode is not None

    @property
    def progress(self) -> str | None:
        return progress_in(self._said().splitlines())

    @property
    def is_too_long(self) -> bool:
        return self._output.stat().st_size > MOST_BYTES

    def outcome(self) -> ErrandOutcome:
        """Of a command that has ended by itself."""
        code = self._process.returncode if self._process is not None else None
        if self.is_too_long:
            return ErrandOutcome(State.FAILED, code, _TOO_MUCH)
        output, told = self._output.read_bytes(), told_in(self._said())
        if code is None or code < 0:
            return ErrandOutcome(State.FAILED, code, told or "it was ended from outside")
        state = state_of(code, output)
        files = self._kept() if state is State.DONE else {}
        if sum(map(len, files.values())) > MOST_BYTES:
            return ErrandOutcome(State.FAILED, code, _TOO_MUCH)
        return ErrandOutcome(state, code, told, output if state is State.DONE else None, files)

    def _kept(self) -> dict[str, bytes]:
        work = Path(self._directory.name) / "work"
        return {name: (work / name).read_bytes() for name in self._keeps if (work / name).is_file()}

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)  # and what it started
            if await self.ended_within(_GRACE_S):
                return

    @property
    def _output(self) -> Path:
        return Path(self._directory.name) / "output"

    @property
    def _errors(self) -> Path:
        return Path(self._directory.name) / "errors"

    def _said(self) -> str:
        with self._errors.open("rb") as errors:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return errors.read().decode(errors="replace")


def _modules() -> str:
    return os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)


ERRAND_TOKEN: Final = TokenForm("abe_")
_RUNNING: Final = Statement("""
select asked_by, token_digest from console_errand where token_prefix = :prefix and state = 'running'
""")


async def actor_of(text: str, pool: Pool, people: PeopleStore) -> Actor:
    """Raises `Refused` for a token whose errand has ended, and for a person who is disabled."""
    async with passing_failures():
        row = await pool.fetchrow(*_RUNNING(prefix=ERRAND_TOKEN.prefix_of(text)))
    if row is None or not has_digest(text, row[1]):
        raise Refused("the errand of this token does not run any more")
    person = await people.find(row[0])
    if person is None or person.disabled_at is not None:
        raise Refused(f"{row[0]} may not act here any more")
    return Actor(person.person_id, person.grants)
