"""The month-end job: find the members whose points lapse, and put them on the expiry queue.

Envelopes are entered before they are sent, and marked after: a job that is killed anywhere and run again sends every
account, and enters none twice. An envelope that is sent twice is expired once.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Reason, Refused, SetAside, absent
from abacus.platform.postgres import Pool
from abacus.platform.slices import slice_map_of
from abacus.platform.sqs.port import CALL_ITEMS, Queue
from abacus.pricing.decide.book import CardBook
from abacus.programs.expiry.decide.envelope import MAX_ACCOUNTS, Envelope, parted
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import ExpiryRuns, Run
from abacus.programs.expiry.sweep_run import SweepRun, sweeping

STALLED_AFTER: Final = timedelta(hours=1)
_PAGE: Final = MAX_ACCOUNTS * CALL_ITEMS

AccountsQueued = Callable[[int], None]  # told how many more accounts are on the queue


class Task(NamedTuple):
    """A month's end in a country."""

    country: str
    month: Month
    zone: tzinfo


def zones_of(book: CardBook, country: str | None, now: datetime) -> list[tuple[str, tzinfo]]:
    """The country, or every country that has a card in force, with the zone by which its months end.

    Raises `Refused` for a country without one.
    """
    if country is not None:
        try:
            return [(country, book.in_force(country, now).card.zone)]
        except SetAside as fault:
            if fault.reason is Reason.UNKNOWN_COUNTRY:
                raise absent("rate card of", country, "`abacus rates list` prints all scopes") from None
            raise Refused(f"--country: {fault.detail}") from None
    zones: list[tuple[str, tzinfo]] = []
    for each in book.countries():
        with suppress(SetAside):  # its first card is still to come
            zones.append((each, book.in_force(each, now).card.zone))
    return zones


def of_month(book: CardBook, month: Month | None, country: str | None, now: datetime) -> list[Task]:
    """The month's end in the country, or in every country where the month is over; without a month, the last one over.

    Raises `Refused` when it is over in none of them.
    """
    tasks = [Task(name, month or Month.last_over(now, zone), zone) for name, zone in zones_of(book, country, now)]
    over = [task for task in tasks if task.month.is_over(now, task.zone)]
    if not tasks:
        raise Refused("no country has a rate card; publish one with `abacus rates publish`")
    if not over:
        first = min(tasks, key=lambda task: task.month.over_at(task.zone))
        raise Refused(
            f"--month: {first.month} is not over; it will be at {first.month.over_at(first.zone).isoformat()}"
        )
    return over


async def of_all_due(runs: ExpiryRuns, book: CardBook, country: str | None, now: datetime) -> list[Task]:
    """Every month's end that is due and not done, the oldest first."""
    tasks: set[Task] = set()
    for name, zone in zones_of(book, country, now):
        last = Month.last_over(now, zone)
        for month in {last, *await runs.months_due(name, last), *await runs.unfinished(name)}:
            if not await runs.is_done(name, month):
                tasks.add(Task(name, month, zone))
    return sorted(tasks, key=lambda task: (task.month, task.country))


class MonthEndJob:
    """Sweeps one month's end after the other."""

    def __init__(self, pool: Pool, queue: Queue, clock: Clock) -> None:
        self._pool = pool
        self._queue = queue
        self._clock = clock

    async def run(self, task: Task, progress: AccountsQueued, *, again: bool = False) -> Run:
        """Put every account on the queue. A run that is done is left as it is, a run that was cut off goes on. `again`
        also sends batches that were sent and are not done; so does a run in which nothing has moved for an hour.

        Raises `Refused` when the run is under way, and `Unavailable`.
        """
        async with sweeping(self._pool, self._clock, task.country, task.month) as sweep:
            run = await sweep.start(task.month.over_at(task.zone))
            if run.finished_at is not None:
                return run
            if run.swept_at is not None and run.enqueued == run.found:
                if not again and self._clock.now() - run.moved_at < STALLED_AFTER:
                    raise Refused(
                        f"{task.country} {task.month} is under way: all {run.found:,} are on the queue and {run.left:,}"
                        " are not expired yet; --again puts those on the queue once more"
                    )
                again = True
            await self._send(sweep, progress, again=again)
            await self._sweep(sweep, task, progress)
            await sweep.swept()
            return await sweep.run()

    async def _sweep(self, sweep: SweepRun, task: Task, progress: AccountsQueued) -> None:
        lapsed_at = task.month.over_at(task.zone)
        number, slice_map = await sweep.last_number(), await slice_map_of(self._pool)
        while lapsing := await sweep.find(_PAGE):
            slices = slice_map.by_slice((each.account for each in lapsing), lambda account: account[0])
            parts = [part for accounts in slices.values() for part in parted(accounts)]
            envelopes = [
                Envelope(task.country, task.month, place, lapsed_at, part)
                for place, part in enumerate(parts, start=number + 1)
            ]
            await sweep.enter(envelopes, lapsing[-1])
            await self._send(sweep, progress, after=number)
            number += len(parts)

    async def _send(self, sweep: SweepRun, progress: AccountsQueued, *, after: int = 0, again: bool = False) -> None:
        while batches := await sweep.to_send(CALL_ITEMS, after=after, again=again):
            await self._queue.send([each.body for each in batches])
            await sweep.sent([each.number for each in batches])
            after = batches[-1].number
            progress(sum(each.accounts for each in batches))
