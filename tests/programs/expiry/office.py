"""A month's end on a database: its queue, its sweep and its expirer."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from abacus.cli.examples import example_cards
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.port import Queue, Unsent
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.expirer import Expirer
from abacus.programs.expiry.runs import ExpiryRuns, Run
from abacus.programs.expiry.sweep import MonthEndJob, Task
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from tests.support.awards import award
from tests.support.fixed_clock import FixedClock
from tests.support.memory_queue import MemoryQueue

SINGAPORE = ZoneInfo("Asia/Singapore")
JULY = Task("SG", Month(2026, 7), SINGAPORE)
AUGUST = datetime(2026, 7, 31, 16, 0, 1, tzinfo=UTC)  # a second into it, in Singapore
NAMES = ("adam", "bob", "eve", "jane")


def earned(member: str, *, points: int = 100, until_day: date = date(2026, 7, 31), key: str = "", **more: Any) -> Award:
    return award(
        key=key or f"txn:rides:{member}-{until_day}", member_id=member, points=points, expires_on=until_day, **more
    )


class Line(MemoryQueue):
    """The expiry queue; it can fail at its n-th call."""

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__("expiry")
        self.calls = 0
        self._fails_at = fails_at

    async def send(self, bodies: Sequence[str], *, delay_s: float = 0) -> None:
        self.calls += 1
        if self.calls == self._fails_at:
            raise Unsent(self.name, "cut off", list(bodies))
        await super().send(bodies, delay_s=delay_s)


class Office:
    """The queue, the sweep and the expirer of a month's end, on a database."""

    def __init__(self, pool: Pool, now: datetime = AUGUST) -> None:
        self.pool = pool
        self.clock = FixedClock(now)
        self.ledger = PostgresLedger(pool, self.clock)
        self.queue = Line()
        self.runs = ExpiryRuns(pool)

    async def sweep(self, task: Task = JULY, *, queue: Queue | None = None, again: bool = False) -> Run:
        return await MonthEndJob(self.pool, self.queue if queue is None else queue, self.clock).run(
            task, lambda _: None, again=again
        )

    async def expire(self) -> None:
        expirer = Expirer(self.pool, QuarantineStore(self.pool, self.clock), self.clock)
        while len(self.queue) and (messages := await self.queue.receive()):
            await self.queue.delete(await expirer.handle(messages))

    async def balances(self) -> dict[str, int]:
        return dict(map(tuple, await self.pool.fetch("select member_id, balance from account order by 1")))

    async def is_proven(self) -> bool:
        book = CardBook([])
        only_expiries = await self.pool.fetchval("select count(*) from transfer where kind = 'expire'")
        report = await verify(self.pool, lambda transfer: recompute(transfer, book) if transfer.points < 0 else None)
        return report.clean and only_expiries >= 0


def book() -> CardBook:
    return CardBook([PublishedCard(card, 1) for card in example_cards()])
