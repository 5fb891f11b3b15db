"""The daily job that tells members of points that will expire. It reads accounts in batches along an index. A notice is
the same however often it is entered, so a run that was cut off is simply run again.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date, timedelta, tzinfo
from itertools import groupby
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.merge import merged_page, page_size
from abacus.engage.notify.decide.ahead import DAYS_AHEAD, Expiry, reminder_of
from abacus.engage.notify.notices import Notices
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns, row_of
from abacus.pricing.decide.book import CardBook
from abacus.programs.expiry.lapsing_sql import lapsing
from abacus.programs.expiry.sweep import zones_of

_BATCH: Final = 1000


class AccountCursor(NamedTuple):
    """Where an account stands in the order of days, members and programs."""

    expires_on: date
    member_id: str
    program: str


# The next accounts, each with its points that expire within the window, a row a lot; an account without any is still a
# place to go on from. Points that are held do not expire until they are released.
NEXT: Final = Statement(f"""
select {columns(AccountCursor, "a")}, a.country, l.points, l.lapses_on, a.lifetime
from (
    select * from account
    where country = :country and expires_on <= :last
        and (expires_on, member_id, program) > (:expires_on, :member_id, :program)
        and balance > held
    order by expires_on, member_id, program
    limit :most
) a
left join lateral {lapsing("a")} l on l.lapses_on between :first and :last and l.points > 0
order by a.expires_on, a.member_id, a.program
""")


class _Lot(NamedTuple):
    """Points of an account that expire on one day."""

    country: str
    points: int
    lapses_on: date
    lifetime: bool


class _Account(NamedTuple):
    """An account with its points that expire within the window."""

    place: AccountCursor
    lots: Sequence[_Lot]

    def expiries(self) -> list[Expiry]:
        """One for each day."""
        days: dict[date, Expiry] = {}
        for lot in self.lots:
            day, so_far = lot.lapses_on, days.get(lot.lapses_on)
            points = lot.points + (so_far.points if so_far is not None else 0)
            days[day] = Expiry(self.place.member_id, self.place.program, lot.country, points, day, lot.lifetime)
        return list(days.values())


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
        last = AccountCursor(date.min, "", "")
        while accounts := await self._next(country, today, last):
            yield [expiry for account in accounts for expiry in account.expiries()]
            last = accounts[-1].place

    async def _next(self, country: str, today: date, after: AccountCursor) -> list[_Account]:
        size = page_size(_BATCH, len(await slices.slices_of(self._pool)))
        last = today + timedelta(days=DAYS_AHEAD[0])  # and today is the last good day of some points
        statement = NEXT(country=country, first=today, last=last, most=size, **after._asdict())
        async with passing_failures(), self._pool.acquire() as connection:
            pages = await slices.each(connection, lambda: connection.fetch(*statement))
        return merged_page([_accounts(page) for page in pages], size, lambda account: account.place)


def _accounts(rows: Sequence[Any]) -> list[_Account]:
    """The accounts of a page, from a row a lot; the only row of an account without lots has no day."""
    by_place = groupby(rows, lambda row: row_of(AccountCursor, row))
    return [
        _Account(place, [row_of(_Lot, row) for row in lots if row["lapses_on"] is not None]) for place, lots in by_place
    ]
