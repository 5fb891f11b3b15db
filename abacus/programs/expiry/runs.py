"""The record of each month's end, in Postgres. Every method raises `Unavailable` while the database is away."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.ledger.types.account import AccountId
from abacus.platform.following.lease import lease
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.programs.expiry.decide.envelope import Envelope, encode_envelope
from abacus.programs.expiry.decide.month import Month

_RUNS: Final = """
select r.country, r.month, r.started_at, r.swept_at, r.finished_at,
    coalesce(sum(b.accounts), 0)::bigint as found,
    coalesce(sum(b.accounts) filter (where b.sent_at is not null), 0)::bigint as enqueued,
    coalesce(sum(b.expired), 0)::bigint as expired, coalesce(sum(b.skipped), 0)::bigint as skipped,
    coalesce(sum(b.points), 0)::bigint as points,
    greatest(r.started_at, max(b.sent_at), max(b.done_at)) as moved_at
from expiry_run r left join expiry_batch b on b.country = r.country and b.month = r.month
where ($1::text is null or r.country = $1) and ($2::text is null or r.month = $2)
group by r.country, r.month
order by r.month, r.country
"""

_START: Final = """
insert into expiry_run (country, month, last_day, lapsed_at, started_at, found_day, found_member, found_program)
values ($1, $2, $3, $4, $5, $6, '', '') on conflict do nothing
"""

# The accounts of earlier ends that are still under way are theirs.
_FROM: Final = """
select coalesce(max(last_day) + 1, '-infinity') from expiry_run
where country = $1 and month < $2 and finished_at is null
"""

# The index gives this order: nothing is sorted and nothing held, whatever the planner knows of a growing table.
FIND_PLANS: Final = "set local enable_sort = off; set local enable_bitmapscan = off; set local enable_seqscan = off"

FIND: Final = """
select expires_on, member_id, program from account
where country = $1 and (expires_on, member_id, program) > ($2, $3, $4) and expires_on <= $5 and balance > held
order by expires_on, member_id, program
limit $6
"""

# Whoever sees the last batch done, the one that sent it or the one that expired it, says so.
FINISH: Final = """
update expiry_run r set finished_at = $3
where country = $1 and month = $2 and swept_at is not null and finished_at is null and not exists (
    select from expiry_batch b where b.country = r.country and b.month = r.month and b.done_at is null)
"""


class Run(NamedTuple):
    """How far a month's end has come in a country. The counts are members' accounts; `points` is what lapsed."""

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
        """Found, and neither expired nor skipped yet."""
        return self.found - self.expired - self.skipped


class ToSend(NamedTuple):
    """An envelope that is to go on the queue, and how many accounts are in it."""

    number: int
    accounts: int
    body: str


class ExpiryRuns:
    """Reads the records."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all(self, country: str | None = None, month: Month | None = None) -> list[Run]:
        async with passing_failures():
            rows = await self._pool.fetch(_RUNS, country, str(month) if month else None)
        return [Run(*row) for row in rows]

    async def unfinished(self, country: str) -> list[Month]:
        return [Month.parse(run.month) for run in await self.all(country) if run.finished_at is None]

    async def is_done(self, country: str, month: Month) -> bool:
        return any(run.finished_at is not None for run in await self.all(country, month))

    async def months_due(self, country: str, until: Month) -> list[Month]:
        """The months up to this one in which points of accounts of the country lapse."""
        found: list[Month] = []
        day = date.min
        async with passing_failures():
            while True:
                day = await self._pool.fetchval(
                    "select expires_on from account where country = $1 and expires_on > $2 and expires_on <= $3"
                    " and balance > held order by expires_on limit 1",
                    country,
                    day,
                    until.last_day,
                )
                if day is None:
                    return found
                found.append(Month.of(day))
                day = found[-1].last_day


@asynccontextmanager
async def sweeping(pool: Pool, clock: Clock, country: str, month: Month) -> AsyncIterator["Sweeping"]:
    """The month's end in the country, for one process at a time. Raises `Refused` when another has it."""
    name = f"abacus expiry {country} {month}"
    async with passing_failures(), pool.acquire() as connection, lease(connection, name) as is_ours:
        if not is_ours:
            raise Refused(f"{country} {month} is under way: another process is finding its members")
        yield Sweeping(connection, clock, country, month)


class Sweeping:
    """A run in the hands of the process that finds its accounts."""

    def __init__(self, connection: Connection, clock: Clock, country: str, month: Month) -> None:
        self._connection = connection
        self._clock = clock
        self._country = country
        self._month = str(month)
        self._last_day = month.last_day

    async def start(self, lapsed_at: datetime) -> Run:
        """The run, which begins now if it has not begun before."""
        begin_after = await self._connection.fetchval(_FROM, self._country, self._month)
        await self._connection.execute(
            _START, self._country, self._month, self._last_day, lapsed_at, self._clock.now(), begin_after
        )
        await self._finish()  # whoever did the last batch may have been killed before it could say so
        return await self.run()

    async def run(self) -> Run:
        return Run(*await self._connection.fetchrow(_RUNS, self._country, self._month))

    async def find(self, limit: int) -> Sequence[tuple[date, AccountId]]:
        """The next accounts after those that were entered."""
        row = await self._connection.fetchrow(
            "select found_day, found_member, found_program from expiry_run where country = $1 and month = $2",
            self._country,
            self._month,
        )
        async with self._connection.transaction(readonly=True):
            await self._connection.execute(FIND_PLANS)
            found = await self._connection.fetch(FIND, self._country, *row, self._last_day, limit)
        return [(day, (member_id, program)) for day, member_id, program in found]

    async def enter(self, envelopes: Sequence[Envelope], last: tuple[date, AccountId]) -> None:
        """Keep envelopes that are to be sent; `last` is the last account in them."""
        day, (member_id, program) = last
        async with self._connection.transaction():
            await self._connection.executemany(
                "insert into expiry_batch (country, month, number, accounts, body) values ($1, $2, $3, $4, $5)",
                [
                    (self._country, self._month, each.number, len(each.accounts), encode_envelope(each))
                    for each in envelopes
                ],
            )
            await self._connection.execute(
                "update expiry_run set found_day = $3, found_member = $4, found_program = $5"
                " where country = $1 and month = $2",
                self._country,
                self._month,
                day,
                member_id,
                program,
            )

    async def batches(self) -> int:
        return int(
            await self._connection.fetchval(
                "select coalesce(max(number), 0) from expiry_batch where country = $1 and month = $2",
                self._country,
                self._month,
            )
        )

    async def to_send(self, limit: int, *, after: int, again: bool = False) -> list[ToSend]:
        """The batches beyond that number which are not done: those not sent yet, or all."""
        rows = await self._connection.fetch(
            "select number, accounts, body from expiry_batch where country = $1 and month = $2 and number > $3"
            " and done_at is null and ($4 or sent_at is null) order by number limit $5",
            self._country,
            self._month,
            after,
            again,
            limit,
        )
        return [ToSend(*row) for row in rows]

    async def sent(self, numbers: Sequence[int]) -> None:
        await self._connection.execute(
            "update expiry_batch set sent_at = $4 where country = $1 and month = $2 and number = any($3)",
            self._country,
            self._month,
            numbers,
            self._clock.now(),
        )

    async def swept(self) -> None:
        """Every account was found."""
        await self._connection.execute(
            "update expiry_run set swept_at = coalesce(swept_at, $3) where country = $1 and month = $2",
            self._country,
            self._month,
            self._clock.now(),
        )
        await self._finish()

    async def _finish(self) -> None:
        await self._connection.execute(FINISH, self._country, self._month, self._clock.now())
