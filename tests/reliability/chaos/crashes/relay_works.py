"""The work of the relay."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar

from tests.reliability.chaos.crashes.crossing import Side, Stage, point
from tests.reliability.chaos.crashes.work import Work


class Transfers(Work):
    """Transfers of several accounts; some accounts have several."""

    worker: ClassVar = "relay"
    name: ClassVar = "transfers"
    passes: ClassVar = frozenset({Stage.JOIN, Stage.DECIDE, Stage.PRODUCE, Stage.CURSOR})

    async def lay_out(self) -> None:
        for number, who in enumerate(("ann", "bob", "ann", "eve", "ann")):
            await self.earlier(who, number)

    async def is_done(self) -> bool:
        return await self.lane.is_told()


class TransfersOfAnother(Transfers):
    """Another relay leads, and goes only when this one has ended."""

    name: ClassVar = "transfers of another"
    passes: ClassVar = frozenset({Stage.JOIN})

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        topic = self.lane.settings.points_topic
        await self.lane.owner.execute("select pg_advisory_lock(hashtext('abacus relay ' || $1))", topic)
        try:
            yield
        finally:
            await self.lane.owner.execute("select pg_advisory_unlock(hashtext('abacus relay ' || $1))", topic)

    async def is_done(self) -> bool:
        """Whether the worker stands by."""
        return point("database: call pg_try_advisory_lock", Side.AFTER) in self.lane.visited()
