"""The worker processes of a run, and the supervisor that starts dead ones again."""

import asyncio
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from abacus.core.errors import Refused
from tests.support.births import Born, Nursery

_STOP_WITHIN_S: Final = 32.0
_AGAIN_AFTER_S: Final = 0.3
_LOOK_EVERY_S: Final = 0.2
_READY: Final = (b"worker ready", b"listens on")  # as its log says it, or what a partner prints


class Worker:
    """One post of the crew: a process, and after its death another one."""

    def __init__(
        self,
        name: str,
        nursery: Nursery,
        environment: Mapping[str, str],
        log: Path,
        clock: Path | None,
        *,
        arguments: Sequence[str],
    ) -> None:
        self.name = name
        self._arguments = arguments or ("worker", name)
        self.deaths: Counter[str] = Counter()  # deaths that nobody here has caused
        self.clock = clock
        self._nursery = nursery
        self._environment = environment
        self._log = log
        self._began_at = 0  # in the log
        self._process: Born | None = None
        self._killed = False
        self._dismissed = False
        self._posted = asyncio.create_task(self._fill())

    @property
    def ready(self) -> bool:
        """Whether this process has ever been in that state."""
        if self._process is None or self._process.ended.done():
            return False
        return any(each in self.told for each in _READY)

    @property
    def told(self) -> bytes:
        """The log lines of this process."""
        with self._log.open("rb") as log:
            log.seek(self._began_at)
            return log.read()

    @property
    def pid(self) -> int | None:
        """The id of the process that lives, if one does."""
        return None if self._process is None or self._process.ended.done() else self._process.pid

    def kill(self) -> bool:
        """kill -9; whether it lived."""
        self._killed = True
        return self._send(signal.SIGKILL)

    def freeze(self) -> bool:
        return self._send(signal.SIGSTOP)

    def thaw(self) -> bool:
        return self._send(signal.SIGCONT)

    async def dismiss(self) -> None:
        """Send SIGTERM, and do not start the worker again."""
        self._dismissed = True
        self._send(signal.SIGCONT)
        self._send(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_WITHIN_S):
                await asyncio.shield(self._posted)
        except TimeoutError:
            self.deaths[f"{self.name} did not end within {_STOP_WITHIN_S:.0f} s of SIGTERM"] += 1
            self._killed = True
            self._send(signal.SIGKILL)
            await self._posted

    async def _fill(self) -> None:
        while not self._dismissed:
            self._killed = False
            self._log.touch()  # a new process opens it a little after we look
            self._began_at = self._log.stat().st_size
            self._process = await self._nursery.born(
                self._arguments, self._environment, log=self._log, clock=self.clock
            )
            if self._dismissed:  # while it was started
                self._send(signal.SIGTERM)
            code = await self._process.ended
            if not self._killed and (code or not self._dismissed):
                self.deaths[f"{self.name} ended by itself with {code}, {self._last_words}; see {self._log}"] += 1
            await asyncio.sleep(_AGAIN_AFTER_S)

    @property
    def _last_words(self) -> str:
        lines = self.told.decode(errors="replace").split("\n")
        return next((f"saying {line!r}" for line in reversed(lines) if line.strip()), "without a word")

    def _send(self, what: signal.Signals) -> bool:
        return self._process is not None and self._process.send(what)


class Crew:
    """So many of each worker, in processes of their own. Leaving the block ends them in order."""

    def __init__(self, nursery: Nursery, environment: Mapping[str, str], logs: Path) -> None:
        self._nursery = nursery
        self._environment = environment
        self._logs = logs
        self._hired = 0
        self._gone: list[Worker] = []
        self.workers: list[Worker] = []

    def hire(
        self,
        name: str,
        *,
        clock: Path | None = None,
        health_port: int | None = None,
        told: Mapping[str, str] = MappingProxyType({}),
        arguments: Sequence[str] = (),
    ) -> Worker:
        """`told` is what its environment has besides, and `arguments` what `abacus` runs in place of the worker."""
        self._hired += 1
        log = self._logs / f"{name}-{self._hired}.log"
        if health_port is not None:
            told = {**told, "ABACUS_HEALTH_PORT": str(health_port)}
        worker = Worker(name, self._nursery, {**self._environment, **told}, log, clock, arguments=arguments)
        self.workers.append(worker)
        return worker

    async def dismiss(self, worker: Worker) -> None:
        self.workers.remove(worker)
        self._gone.append(worker)
        await worker.dismiss()

    async def ready(self, within_s: float) -> None:
        """Returns when all workers are. Raises `Refused` as soon as one ends by itself, and `TimeoutError`."""
        async with asyncio.timeout(within_s):
            while not all(worker.ready for worker in self.workers):
                if self.deaths:
                    raise Refused(f"the crew does not begin: {'; '.join(self.deaths)}")
                await asyncio.sleep(_LOOK_EVERY_S)

    def named(self, name: str) -> list[Worker]:
        return [worker for worker in self.workers if worker.name == name]

    @property
    def deaths(self) -> list[str]:
        """The faults of workers that died though nobody killed them."""
        return [death for worker in (*self.workers, *self._gone) for death in worker.deaths]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(self.dismiss(worker) for worker in list(self.workers)))
