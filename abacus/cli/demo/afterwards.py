"""After the stream: a member rises a tier, a month ends, members get their messages, every message is accounted for."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final

from abacus.cli.demo.stream import Counts
from abacus.cli.examples.stream import EVE
from abacus.cli.ledger.reconcile import account_for
from abacus.cli.terminal.shell import sqs
from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.sql import Statement
from abacus.platform.sqs.definition import EXPIRY
from abacus.platform.sqs.queue import SqsQueue
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import ExpiryRuns
from abacus.programs.expiry.sweep import MonthEndJob, of_month
from abacus.programs.tiers.store import MembershipStore

RISES_TO: Final = "silver"
_MONTH: Final = Month(2026, 7)  # soon after the stream's own time: most members have been active since
_STALLED_S: Final = 60.0
_ON_THE_WAY_S: Final = 10.0

# Points that were earned or lapsed and tiers that changed, if nobody was told; messages that wait; notices without any.
_UNTOLD: Final = Statement("""
select (select count(*) from transfer t where t.posted_at >= :since and t.points <> 0
            and t.kind in ('earn', 'expire') and not exists (
            select from notice n where n.member_id = t.member_id
            and n.event_id = t.member_id || ':' || t.program || ':' || t.seq))
    + (select count(*) from tier_change c where c.changed_at >= :since and not exists (
            select from notice n where n.member_id = c.member_id
            and n.event_id = c.member_id || ':' || c.program || ':' || 'tier' || ':' || c.n))
    + (select count(*) from notice where told_at is null)
    + (select count(*) from notification where sent_at is null and parked_at is null) as untold
""")


async def until_eve_has_risen(pool: Pool) -> None:
    """Wait until the tier keeper has counted Eve's points."""
    tiers, eve = MembershipStore(pool, SystemClock()), (EVE["member_id"], "GRP")

    async def has_risen() -> bool:
        return (await tiers.tiers_of([eve])).get(eve) == RISES_TO

    await _until(has_risen, "the tier keeper")


async def end_the_month(complete: Settings, pool: Pool) -> None:
    """Run `abacus expiry run` for every country, and wait for the expirer."""
    book, clock, runs = CardBook(await CardStore(pool).all()), SystemClock(), ExpiryRuns(pool)
    async with sqs(complete) as client:
        queue = await SqsQueue.find(client, complete.queue_prefix + EXPIRY)
        for task in of_month(book, _MONTH, None, clock.now()):
            await MonthEndJob(pool, queue, clock).run(task, lambda _: None, again=True)

    async def is_finished() -> bool:
        return all(run.finished_at is not None for run in await runs.all(month=_MONTH))

    await _until(is_finished, "the expirer")


async def until_everybody_is_told(pool: Pool, since: datetime) -> None:
    async def nothing_is_left() -> bool:
        untold: int = sum(row["untold"] for row in await slices.rows(pool, _UNTOLD(since=since)))
        return untold == 0

    await _until(nothing_is_left, "the notifier")


async def until_all_is_counted(counts: Counts, events: int) -> None:
    """Wait until the counter has looked at `events` events."""

    async def is_counted() -> bool:
        return counts["events"] >= events

    await _until(is_counted, "the counter")


async def comes_out(complete: Settings, pool: Pool, since: datetime) -> bool:
    """Whether the demo comes out once nothing is on its way, by `abacus reconcile` and `abacus rewards reconcile`."""
    began = time.monotonic()
    while True:
        account = await account_for(complete, pool, since, SystemClock().now())
        if not account.on_the_way or time.monotonic() - began > _ON_THE_WAY_S:
            return account.comes_out and not account.on_the_way and not (await reward_books(pool)).faults
        await asyncio.sleep(0.1)


async def _until(condition: Callable[[], Awaitable[bool]], whose: str) -> None:
    began = time.monotonic()
    while not await condition():
        if time.monotonic() - began > _STALLED_S:
            raise Unavailable(whose, f"not done after {_STALLED_S:.0f} s")
        await asyncio.sleep(0.05)
