"""The work of the expirer; and a month's end for other works that need one."""

from collections.abc import Iterator
from itertools import count
from typing import Any, ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.core.errors import Reason
from abacus.ledger.types.award_envelope import Award
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.definition import EXPIRY
from abacus.platform.sqs.port import Queue
from abacus.pricing.decide.book import CardBook
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.expirer import Expirer
from abacus.programs.expiry.sweep import MonthEndJob, Task
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.facts import award_of, paid
from tests.reliability.chaos.crashes.lane import Lane
from tests.reliability.chaos.crashes.work import Work
from tests.support.memory_queue import MemoryQueue

_ZONE: Final = ZoneInfo("Asia/Singapore")
_FIRST: Final = 2001 * 12
_months: Final[Iterator[int]] = count(_FIRST)


def next_month() -> Month:
    """A month that no other work ends."""
    year, before = divmod(next(_months), 12)
    return Month(year, before + 1)


def lapsing(book: CardBook, facts: dict[str, Any], month: Month, **changes: Any) -> Award:
    return award_of(book, facts, expires_on=month.last_day, **changes)


async def sweep(lane: Lane, month: Month, queue: Queue, *, again: bool = False) -> None:
    await MonthEndJob(lane.pool, queue, lane.clock).run(Task("SG", month, _ZONE), lambda _: None, again=again)


async def expire(lane: Lane, month: Month) -> None:
    """Expire the whole month, here and now."""
    queue = MemoryQueue(EXPIRY)
    await sweep(lane, month, queue)
    await Expirer(lane.pool, QuarantineStore(lane.pool, lane.clock), lane.clock).handle(await queue.receive())


class Expiries(Work):
    """Envelopes of a month's end, one of them twice, and a body that is no envelope."""

    worker: ClassVar = "expirer"
    name: ClassVar = "expiries"
    passes: ClassVar = frozenset(
        {
            Stage.RECEIVE,
            Stage.BEGIN,
            Stage.CLAIM,
            Stage.LOCK,
            Stage.DECIDE,
            Stage.INSERT,
            Stage.QUARANTINE,
            Stage.COMMIT,
            Stage.DELETE,
        }
    )

    async def lay_out(self) -> None:
        month, book, queue = next_month(), self.lane.book, self.lane.queues[EXPIRY]
        ann, bob, eve, lea = [paid(self.mark, who, number) for number, who in enumerate(("ann", "bob", "eve", "lea"))]
        await self.post(*(lapsing(book, facts, month) for facts in (ann, bob, eve)))
        await self.post(lapsing(book, lea, month, lifetime=True))
        await sweep(self.lane, month, queue)
        await sweep(self.lane, month, queue, again=True)
        await self.earlier("eve", 5)  # active again
        garbage = f"{{garbage {self.mark}"
        await self.lane.send(EXPIRY, [garbage])
        self.due.hold(Reason.UNDECODABLE, garbage)
        for facts in (ann, bob, lea):
            self.lapses(facts, month)

    async def is_done(self) -> bool:
        return await self.lane.is_empty(EXPIRY)
