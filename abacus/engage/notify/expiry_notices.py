"""The daily job that tells members of points that will expire. It reads accounts in batches along an index. A notice is
the same however often it is entered, so a run that was cut off is simply run again.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date, timedelta, tzinfo
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.engage.notify.decide.ahead import DAYS_AHEAD, Expiry, reminder_of
from abacus.engage.notify.expiring import BEFORE_ALL, expiring
from abacus.engage.notify.notices import Notices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.programs.expiry.sweep import zones_of


class ReminderRun(NamedTuple):
    """The progress in a country: accounts with points that will expire soon, and new notices."""

    country: str
    today: date
    accounts: int
    entered: int


class ExpiryReminders:
    """Runs the daily job. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, notices: Notices, clock: Clock, *, gathered_for: timedelta) -> None:
        self._pool = pool
        self._notices = notices
        self._clock = clock
        self._gathered_for = gathered_for

    async def run(
        self, book: CardBook, country: str | None, *, on_progress: Callable[[ReminderRun], None] = lambda _: None
    ) -> list[ReminderRun]:
        """Run in one country, or in every country with a card in force. Raises `Refused` for a country without one."""
        zones = zones_of(book, country, self._clock.now())
        return [await self._run_in(each, zone, on_progress) for each, zone in zones]

    async def _run_in(self, country: str, zone: tzinfo, on_progress: Callable[[ReminderRun], None]) -> ReminderRun:
        now = self._clock.now()
        today = now.astimezone(zone).date()
        done = ReminderRun(country, today, 0, 0)
        async for batch in self._batches(country, today):
            notices = [reminder_of(expiry, today, now) for expiry in batch]
            entered = await self._notices.enter(notices, gathered_for=self._gathered_for)
            done = done._replace(accounts=done.accounts + len(batch), entered=done.entered + entered)
            on_progress(done)
        return done

    async def _batches(self, country: str, today: date) -> AsyncIterator[Sequence[Expiry]]:
        after, last = BEFORE_ALL, today + timedelta(days=DAYS_AHEAD[0])  # and today is the last good day of some points
        while accounts := await expiring(self._pool, country, (today, last), after):
            yield [expiry for account in accounts for expiry in account.expiries()]
            after = accounts[-1].place
