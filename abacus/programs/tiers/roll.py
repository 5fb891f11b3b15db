"""The end of a period: those whose tier lasted to it step down to what they earned since.

A run belongs to a country and a day. Its record is there before its first change, and each batch moves the record and
its accounts in one transaction, so a run that was killed goes on where it stopped. What has been rolled is not found
again: doing it twice changes nothing.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, SetAside
from abacus.ledger.types.account import AccountId
from abacus.platform.following.lease import lease
from abacus.platform.postgres import LOOKUPS_BY_KEY, Connection, Pool, passing_failures
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import RateCard
from abacus.programs.tiers.accounts import know, lock, write
from abacus.programs.tiers.calendar import move_calendar, rolled_through
from abacus.programs.tiers.decide.keeping import Change, Known, roll
from abacus.programs.tiers.decide.policy import LONG_AGO, ONE_DAY, period_of

_BATCH: Final = 1000
_LEASE: Final = "abacus tiers roll "

_UNFINISHED: Final = """
select through from tier_roll where country = $1 and finished_at is null order by through limit 1
"""

# A tier may last to a day that no present card's period ends on: its policy was another, or is gone.
_LAST_LAPSED: Final = "select max(until) from account_tier where country = $1 and until < $2"

_BEGIN: Final = """
insert into tier_roll (country, through, found, started_at)
select $1, $2, (select count(*) from account_tier where country = $1 and until <= $2), $3
on conflict do nothing
"""

_LAPSED: Final = f"""
select until, member_id, program from account_tier
where country = $1 and until <= $2 and (until, member_id, program) > ($3, $4, $5)
order by until, member_id, program
limit {_BATCH}
"""

_NOTE: Final = """
update tier_roll set stepped_down = stepped_down + $3, kept = kept + $4 where country = $1 and through = $2
"""

_FINISH: Final = "update tier_roll set finished_at = $3 where country = $1 and through = $2"


class Run(NamedTuple):
    """The record of a run. `kept` counts those who have the same tier by what they earned since, at a lower threshold:
    who earned it at the same one is not found, for that tier lasts longer.
    """

    country: str
    through: date
    found: int
    stepped_down: int
    kept: int
    started_at: datetime
    finished_at: datetime | None


MembersRolled = Callable[[Run], None]  # how far the run is after one more page of members

_RUN: Final = f"select {', '.join(Run._fields)} from tier_roll where country = $1 and through = $2"


class Roll:
    """Ends the periods that are over. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, book: CardBook, clock: Clock, *, progress: MembersRolled = lambda _: None) -> None:
        self._pool = pool
        self._book = book
        self._clock = clock
        self._progress = progress

    async def due(self, country: str) -> list[Run]:
        """Do what is due in the country: first a run that was broken off. Raises `Refused` when one is under way."""
        runs: list[Run] = []
        async with passing_failures(), self._alone(country) as connection:
            while (through := await self._next(connection, country)) is not None:
                runs.append(await self._roll(connection, country, through))
        return runs

    async def rolled_through(self, country: str) -> date | None:
        """The last day whose end has been rolled."""
        async with passing_failures(), self._pool.acquire() as connection:
            through = await rolled_through(connection, country)
        return None if through == LONG_AGO else through

    @asynccontextmanager
    async def _alone(self, country: str) -> AsyncIterator[Connection]:
        async with self._pool.acquire() as connection:
            for setting in LOOKUPS_BY_KEY.items():  # everything is looked up by key, as in posting
                await connection.execute("select set_config($1, $2, false)", *setting)
            async with lease(connection, _LEASE + country) as is_ours:
                if not is_ours:
                    raise Refused(f"the tiers of {country} are being rolled already; let that run end")
                yield connection

    async def _next(self, connection: Connection, country: str) -> date | None:
        unfinished: date | None = await connection.fetchval(_UNFINISHED, country)
        if unfinished is not None:
            return unfinished
        now = self._clock.now()
        card = self._card(country, now)
        if card is None:
            return None
        ended = [await connection.fetchval(_LAST_LAPSED, country, now.astimezone(card.zone).date())]
        if card.tier_policy is not None:
            ended.append(period_of(now, card.zone, card.tier_policy.period_months).starts_on - ONE_DAY)
        through = max((day for day in ended if day is not None), default=LONG_AGO)
        return through if through > await rolled_through(connection, country) else None

    async def _roll(self, connection: Connection, country: str, through: date) -> Run:
        async with connection.transaction():
            await move_calendar(connection, country, through)
            await connection.execute(_BEGIN, country, through, self._clock.now())
        after: tuple[date, str, str] = (LONG_AGO, "", "")
        while rows := await connection.fetch(_LAPSED, country, through, *after):
            async with connection.transaction():
                await self._step(connection, country, through, [(row[1], row[2]) for row in rows])
            after = (rows[-1][0], rows[-1][1], rows[-1][2])
            self._progress(await _run(connection, country, through))
        await connection.execute(_FINISH, country, through, self._clock.now())
        return await _run(connection, country, through)

    async def _step(self, connection: Connection, country: str, through: date, ids: list[AccountId]) -> None:
        locked = await lock(connection, ids)
        known = await know(connection, ids, locked)
        now = self._clock.now()
        pairs: list[tuple[Known, Known]] = []
        changes: list[Change] = []
        stepped_down = kept = 0
        for before in known.values():
            after, decided = roll(before, through, now)
            pairs.append((before, after))
            changes += decided
            if before != after:
                stepped_down += before.account.tier != after.account.tier
                kept += before.account.tier == after.account.tier
        await write(connection, locked.keys(), pairs, changes)
        await connection.execute(_NOTE, country, through, stepped_down, kept)

    def _card(self, country: str, now: datetime) -> RateCard | None:
        try:
            return self._book.in_force(country, now).card
        except SetAside:
            return None  # its first card is still to come


async def _run(connection: Connection, country: str, through: date) -> Run:
    return Run(*await connection.fetchrow(_RUN, country, through))
