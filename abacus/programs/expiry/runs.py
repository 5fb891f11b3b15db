"""The runs of the month-end job, as the record in Postgres has them: one for each month and country."""

from collections.abc import Mapping
from datetime import date, datetime
from itertools import chain
from typing import Final, NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.programs.expiry.decide.month import Month


class Run(NamedTuple):
    """How far a month's end has come in a country. The counts are members' accounts; `points` have lapsed."""

    country: str
    month: str
    started_at: datetime
    swept_at: datetime | None
    finished_at: datetime | None
    found: int
    enqueued: int
    expired: int
    skipped: int
    points: int
    moved_at: datetime

    @property
    def left(self) -> int:
        """Accounts that were entered, and are neither expired nor skipped yet."""
        return self.found - self.expired - self.skipped


RUNS: Final = Statement(f"""
select {columns(Run)} from (
    select r.country, r.month, r.started_at, r.swept_at, r.finished_at,
        coalesce(sum(b.accounts), 0)::bigint as found,
        coalesce(sum(b.accounts) filter (where b.sent_at is not null), 0)::bigint as enqueued,
        coalesce(sum(b.expired), 0)::bigint as expired, coalesce(sum(b.skipped), 0)::bigint as skipped,
        coalesce(sum(b.points), 0)::bigint as points,
        greatest(r.started_at, max(b.sent_at), max(b.done_at)) as moved_at
    from expiry_run r left join expiry_batch b on b.country = r.country and b.month = r.month
    where (:country::text is null or r.country = :country) and (:month::text is null or r.month = :month)
    group by r.country, r.month
) run
order by month, country
""")

# Every process that sees the last batch done closes the run: the sender of the batch, or its expirer.
FINISH: Final = Statement("""
update expiry_run r set finished_at = :now
where country = :country and month = :month and swept_at is not null and finished_at is null and not exists (
    select from expiry_batch b where b.country = r.country and b.month = r.month and b.done_at is null)
""")

_DONE: Final = "select country, month, finished_at is not null from expiry_run"

_NEXT_DAY: Final = Statement("""
select expires_on from account
where country = :country and expires_on > :after and expires_on <= :last_day and balance > held
order by expires_on limit 1
""")


class ExpiryRuns:
    """Reads the record. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all(self, country: str | None = None, month: Month | None = None) -> list[Run]:
        async with passing_failures():
            rows = await self._pool.fetch(*RUNS(country=country, month=str(month) if month else None))
        return [Run(*row) for row in rows]

    async def done(self) -> Mapping[tuple[str, Month], bool]:
        """Every run that has begun, by country and month, and whether it is finished."""
        async with passing_failures():
            return {(country, Month.parse(month)): done for country, month, done in await self._pool.fetch(_DONE)}

    async def unfinished(self, country: str) -> list[Month]:
        return [Month.parse(run.month) for run in await self.all(country) if run.finished_at is None]

    async def is_done(self, country: str, month: Month) -> bool:
        return any(run.finished_at is not None for run in await self.all(country, month))

    async def months_due(self, country: str, until: Month) -> list[Month]:
        """The months up to this one in which points of accounts of the country lapse."""
        async with passing_failures(), self._pool.acquire() as connection:
            months = await slices.each(connection, lambda: _months_due(connection, country, until))
        return sorted(set(chain.from_iterable(months)))


async def _months_due(connection: Connection, country: str, until: Month) -> list[Month]:
    months: list[Month] = []
    after = date.min
    while (
        day := await connection.fetchval(*_NEXT_DAY(country=country, after=after, last_day=until.last_day))
    ) is not None:
        months.append(Month.of(day))
        after = months[-1].last_day
    return months
