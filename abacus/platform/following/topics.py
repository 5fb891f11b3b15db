"""Follows many topics, which come and go while the worker runs."""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

import structlog

from abacus.platform.following.together import Run
from abacus.platform.health import SubWorkerHealth, SubWorkers, WorkerHealth
from abacus.platform.patience import unless_stopped, until_available

_LOOK_EVERY_S: Final = 0.3

log = structlog.get_logger(__name__)


class FollowedTopics:
    """Runs a follower for each topic that is wanted. `wanted` is called several times a second and may raise
    `Unavailable`; `follow` makes the follower of a topic, with a health of its own.
    """

    def __init__(
        self,
        wanted: Callable[[], Collection[str]],
        follow: Callable[[str, SubWorkerHealth], Run],
        health: WorkerHealth,
        *,
        look_every_s: float = _LOOK_EVERY_S,
    ) -> None:
        self._wanted = wanted
        self._follow = follow
        self._health = health
        self._sub_workers = SubWorkers(health)
        self._look_every_s = look_every_s
        self._running: dict[str, tuple[asyncio.Event, asyncio.Task[None]]] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set and every follower has ended. Raises the error of a follower that fails."""
        async with asyncio.TaskGroup() as group:
            while not stop.is_set():
                wanted = await unless_stopped(until_available(self._look, self._health), stop)
                if wanted is not None:
                    self._start_and_stop(frozenset(wanted), group)
                    if not wanted:
                        self._health.ready()
                    await unless_stopped(asyncio.sleep(self._look_every_s), stop)
            for told, _ in self._running.values():
                told.set()

    async def _look(self) -> Collection[str]:
        return self._wanted()

    def _start_and_stop(self, wanted: Collection[str], group: asyncio.TaskGroup) -> None:
        for topic, (told, task) in list(self._running.items()):
            if task.done():  # only now may the topic be followed again, if it is wanted again
                del self._running[topic]
            elif topic not in wanted:
                told.set()
        for topic in sorted(wanted - self._running.keys()):
            log.info("topic followed", worker=self._health.name, topic=topic)
            told = asyncio.Event()
            self._running[topic] = told, group.create_task(self._run_one(topic, told))

    async def _run_one(self, topic: str, told: asyncio.Event) -> None:
        health = self._sub_workers.join()
        try:
            await self._follow(topic, health)(told)
        finally:
            health.left()
        log.info("topic no longer followed", worker=self._health.name, topic=topic)
