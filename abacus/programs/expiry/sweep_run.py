"""A run in the hands of one process: the accounts that lapse, and the envelopes that name them.

Every method raises `Unavailable` while the database is away.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.merge import merged_page, page_size
from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.following.lease import lease
from abacus.platform.postgres import SET_ON_ALL_SERVERS, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.programs.expiry.decide.envelope import Envelope, encode_envelope
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import FINISH, RUNS, Run


class LapsingAccount(NamedTuple):
    """An account whose points lapse after that day."""

    expires_on: date
    member_id: str
    program: str

    @property
    def account(self) -> AccountId:
        return (self.member_id, self.program)


class ToSend(NamedTuple):
    """An envelope for the queue, and how many accounts are in it."""

    number: int
    accounts: int
    body: str


_START: Final = Statement("""
insert into expiry_run (country, month, last_day, lapsed_at, started_at, found_day, found_member, found_program)
values (:country, :month, :last_day, :lapsed_at, :now, :begin_after, '', '') on conflict do nothing
""")

# An earlier run that is still under way has the accounts of its own months.
_FROM: Final = Statement("""
select coalesce(max(last_day) + 1, '-infinity') from expiry_run
where country = :country and month < :month and finished_at is null
""")

# The index gives this order: nothing is sorted and nothing held, whatever the planner knows of a growing table.
FIND_PLANS: Final = (
    f"{SET_ON_ALL_SERVERS};"
    " set local enable_sort = off; set local enable_bitmapscan = off; set local enable_seqscan = off"
)

FIND: Final = Statement(f"""
select {columns(LapsingAccount)} from account
where country = :country and (expires_on, member_id, program) > (:expires_on, :member_id, :program)
    and expires_on <= :last_day and balance > held
order by expires_on, member_id, program
limit :most
""")

_CURSOR: Final = Statement("""
select found_day as expires_on, found_member as member_id, found_program as program
from expiry_run where country = :country and month = :month
""")

_MOVE_CURSOR: Final = Statement("""
update expiry_run set found_day = :expires_on, found_member = :member_id, found_program = :program
where country = :country and month = :month
""")

_ENTER: Final = Statement("""
insert into expiry_batch (country, month, number, accounts, body) values (:country, :month, :number, :accounts, :body)
""")

_LAST_NUMBER: Final = Statement("""
select coalesce(max(number), 0) from expiry_batch where country = :country and month = :month
""")

_TO_SEND: Final = Statement(f"""
select {columns(ToSend)} from expiry_batch
where country = :country and month = :month and number > :after and done_at is null and (:again or sent_at is null)
order by number limit :most
""")

_SENT: Final = Statement("""
update expiry_batch set sent_at = :now where country = :country and month = :month and number = any(:numbers)
""")

_SWEPT: Final = Statement("""
update expiry_run set swept_at = coalesce(swept_at, :now) where country = :country and month = :month
""")


@asynccontextmanager
async def sweeping(pool: Pool, clock: Clock, country: str, month: Month) -> AsyncIterator["SweepRun"]:
    """The month's end in the country, for one process at a time. Raises `Refused` when another has it."""
    name = f"abacus expiry {country} {month}"
    async with passing_failures(), pool.acquire() as connection, lease(connection, name) as is_ours:
        if not is_ours:
            raise Refused(f"{country} {month} is under way: another process is finding its members")
        yield SweepRun(connection, clock, country, month, slices_=len(await slices.slices_of(pool)))


class SweepRun:
    """The run of one month and country, while this process has its lease."""

    def __init__(self, connection: Connection, clock: Clock, country: str, month: Month, *, slices_: int) -> None:
        self._connection = connection
        self._clock = clock
        self._slices = slices_
        self._run = {"country": country, "month": str(month)}
        self._last_day = month.last_day

    async def start(self, lapsed_at: datetime) -> Run:
        """The run, which begins now if it has not begun before."""
        begin_after = await self._connection.fetchval(*_FROM(**self._run))
        await self._connection.execute(
            *_START(
                **self._run,
                last_day=self._last_day,
                lapsed_at=lapsed_at,
                now=self._clock.now(),
                begin_after=begin_after,
            )
        )
        await self._finish()  # the process that did the last batch may have been killed before it could say so
        return await self.run()

    async def run(self) -> Run:
        return Run(*await self._connection.fetchrow(*RUNS(**self._run)))

    async def find(self, limit: int) -> Sequence[LapsingAccount]:
        """The next accounts after the entered accounts; none where there are no more."""
        cursor = await self._connection.fetchrow(*_CURSOR(**self._run))
        size = page_size(limit, self._slices)
        statement = FIND(country=self._run["country"], **cursor, last_day=self._last_day, most=size)
        async with self._connection.transaction(readonly=True):
            await self._connection.execute(FIND_PLANS)
            pages = await slices.each(self._connection, lambda: self._connection.fetch(*statement))
        return merged_page([[LapsingAccount(*row) for row in page] for page in pages], size, tuple)

    async def enter(self, envelopes: Sequence[Envelope], last: LapsingAccount) -> None:
        """Keep envelopes until they are sent; `last` is the last account in them."""
        batches: list[dict[str, object]] = [
            {**self._run, "number": each.number, "accounts": len(each.accounts), "body": encode_envelope(each)}
            for each in envelopes
        ]
        async with self._connection.transaction():
            await self._connection.executemany(*_ENTER.rows(batches))
            await self._connection.execute(*_MOVE_CURSOR(**self._run, **last._asdict()))

    async def last_number(self) -> int:
        return int(await self._connection.fetchval(*_LAST_NUMBER(**self._run)))

    async def to_send(self, limit: int, *, after: int, again: bool = False) -> list[ToSend]:
        """The batches beyond `after` that are not done: not sent yet, or all."""
        rows = await self._connection.fetch(*_TO_SEND(**self._run, after=after, again=again, most=limit))
        return [ToSend(*row) for row in rows]

    async def sent(self, numbers: Sequence[int]) -> None:
        await self._connection.execute(*_SENT(**self._run, numbers=numbers, now=self._clock.now()))

    async def swept(self) -> None:
        """Every account has been entered."""
        await self._connection.execute(*_SWEPT(**self._run, now=self._clock.now()))
        await self._finish()

    async def _finish(self) -> None:
        await self._connection.execute(*FINISH(**self._run, now=self._clock.now()))
