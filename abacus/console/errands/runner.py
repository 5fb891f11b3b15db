"""Runs errands in this process of the console, a few at once, each as a command in a process of its own."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from uuid import uuid4

import structlog

from abacus.console.errands.command import ERRAND_TOKEN, Command
from abacus.console.errands.metrics import ERRANDS, ERRANDS_OLDEST, ERRANDS_WAITING
from abacus.console.errands.store import LOST_AFTER, ErrandStore
from abacus.console.errands.types import ERASE, Errand, ErrandOutcome, State
from abacus.core.errors import Unavailable

NOTHING_MORE: Final[Mapping[str, str]] = MappingProxyType({})
AT_ONCE: Final = 3
OF_ONE_PERSON: Final = AT_ONCE - 1  # so that a place is left for others
WITHIN_S: Final = 3600.0
_LOOK_EVERY_S: Final = 0.3
_BEAT_EVERY_S: Final = 1.0
_AGAIN_AFTER_S: Final = 2.0
_STOPPED: Final = "the console was stopped while it ran; ask for it again"
_TOO_LATE: Final = f"it took longer than {WITHIN_S / 60:g} minutes"

log = structlog.get_logger(__name__)


class ErrandRunner:
    """`environment`: what the commands find there, the addresses of the services among it; `for_erasing`: what only
    commands that erase a member find beside it.
    """

    def __init__(
        self, store: ErrandStore, environment: Mapping[str, str], for_erasing: Mapping[str, str] = NOTHING_MORE
    ) -> None:
        self._store = store
        self._environment = environment
        self._for_erasing = for_erasing
        self._runner = uuid4()

    async def keep_running(self) -> None:
        """Runs until cancelled, and then ends what it runs."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_giving_up())
            free = asyncio.Semaphore(AT_ONCE)
            while True:
                await free.acquire()
                taken = await self._taken()
                group.create_task(self._run(*taken)).add_done_callback(lambda _: free.release())

    async def _taken(self) -> tuple[Errand, str]:
        """The next errand with its token, as soon as there is one."""
        while True:
            token = ERRAND_TOKEN.new()
            try:
                errand = await self._store.take(self._runner, token, of_one=OF_ONE_PERSON)
            except Unavailable as error:
                log.warning("errands wait", away=error)
                await asyncio.sleep(_AGAIN_AFTER_S)
                continue
            if errand is not None:
                return errand, token.text
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _run(self, errand: Errand, token: str) -> None:
        more = self._for_erasing if errand.kind == ERASE else NOTHING_MORE
        environment = {**self._environment, **more, "ABACUS_TOKEN": token}
        papers: Mapping[str, str] = json.loads(errand.papers)
        try:
            async with Command(errand.arguments, papers, errand.keeps, environment) as command:
                outcome = await self._watched(errand, command)
        except OSError as error:
            outcome = ErrandOutcome(State.FAILED, None, f"it could not be started: {error}")
        except asyncio.CancelledError:
            with contextlib.suppress(Unavailable):
                await self._store.end(errand.errand_id, self._runner, ErrandOutcome(State.FAILED, None, _STOPPED))
            raise
        if outcome is not None:
            await self._end(errand, outcome)
            ERRANDS.labels(errand.kind, outcome.state).inc()

    async def _end(self, errand: Errand, outcome: ErrandOutcome) -> None:
        """Waits for a database that is away, until others would give the errand up."""
        for _ in range(int(LOST_AFTER.total_seconds() / _AGAIN_AFTER_S)):
            try:
                await self._store.end(errand.errand_id, self._runner, outcome)
            except Unavailable as error:
                log.warning("an errand cannot be ended yet", away=error)
                await asyncio.sleep(_AGAIN_AFTER_S)
            else:
                return

    async def _watched(self, errand: Errand, command: Command) -> ErrandOutcome | None:
        """None for an errand that is cancelled. While the database is away, the command goes on."""
        loop = asyncio.get_running_loop()
        too_late = loop.time() + WITHIN_S
        while not await command.ended_within(_BEAT_EVERY_S):
            if loop.time() > too_late:
                return ErrandOutcome(State.FAILED, None, _TOO_LATE)
            if command.is_too_long:
                return command.outcome()
            try:
                if not await self._store.beat(errand.errand_id, self._runner, command.progress):
                    return None
            except Unavailable:
                continue
        return command.outcome()

    async def _keep_giving_up(self) -> None:
        while True:
            try:
                await self._store.give_up_lost()
                number, seconds = await self._store.waiting()
                ERRANDS_WAITING.set(number)
                ERRANDS_OLDEST.set(seconds)
            except Unavailable as error:
                log.warning("lost errands cannot be looked for", away=error)
            await asyncio.sleep(_AGAIN_AFTER_S)
