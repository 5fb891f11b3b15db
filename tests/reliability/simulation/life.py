"""One life of a process: from its start to its crash or its orderly end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from abacus.core.errors import Unavailable
from tests.reliability.simulation.storm import Storm


class Crash(BaseException):
    """The process is gone. Nothing of the product may catch this, and nothing it does afterwards has an effect."""


Failing = Callable[[str], Exception]


class Life:
    """Stands between a worker and everything it calls: each call is two steps, and each step may be its last."""

    def __init__(self, name: str, storm: Storm) -> None:
        self.name = name
        self.storm = storm
        self.over = False
        self.crashed = asyncio.Event()
        self._last_acts: list[Callable[[], object]] = []

    def at_the_end(self, act: Callable[[], object]) -> None:
        """Have the world do this when the process is gone, however it ended."""
        self._last_acts.append(act)

    def end(self) -> None:
        if not self.over:
            self.over = True
            for act in self._last_acts:
                act()

    def note(self, what: str) -> None:
        self.storm.trace.note(self.name, what)

    async def step(self, what: str, *, at_once: bool = False) -> None:
        """A moment at which the process may crash, and at which others may run unless it passes at once."""
        self._go_on()
        takes = None if at_once else self._takes()
        if takes is not None:
            await asyncio.sleep(takes)
            self._go_on()
        if self.storm.crashes(self.name, what):
            self.crashed.set()
            self.end()
            self._go_on()

    @asynccontextmanager
    async def call(
        self, dependency: str, what: str, failing: Failing | None = None, *, local: bool = False
    ) -> AsyncIterator[None]:
        """A block around the effect of a call, which may be refused, or succeed while its answer gets lost.

        A local call, which hands out values that are here already, takes no time, and its answer does not get lost.
        """

        def failure(why: str) -> Exception:
            self.note(f"{what}: {why}")
            return failing(why) if failing is not None else Unavailable(dependency, why)

        await self.step(f"before {what}", at_once=local)
        if self.storm.is_down(dependency):
            raise failure("down")
        if self.storm.strikes("refused", self.name):
            raise failure("refused")
        yield
        self.note(what)
        await self.step(f"after {what}", at_once=local)
        if not local and self.storm.strikes("lost", self.name):
            raise failure("the answer is lost")

    def _go_on(self) -> None:
        if self.over:
            raise Crash(self.name)

    def _takes(self) -> float | None:
        """How many seconds the step takes; None where nobody else runs in between, as somebody may in 0 seconds."""
        chance = self.storm.chance
        if self.storm.strikes("slow", self.name):
            return chance.choice((2.0, 20.0, 100.0)) * chance.random()
        luck = chance.random()
        return None if luck < 0.4 else 0.0 if luck < 0.8 else luck - 0.8
