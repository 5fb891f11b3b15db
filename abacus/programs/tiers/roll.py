"""The end of a period: accounts whose tier lasted to it step down to the tier earned since.

A run belongs to a country and a day, and each slice has its record of it. The records are there before the first
change, and each batch moves a record and accounts of its slice in one transaction, so a run that was killed goes on
where it stopped. An account that has been rolled is not selected again: a second run changes nothing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime
from typing import Final, NamedTuple, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import Refused, SetAside
from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.following.lease import lease, still_held
from abacus.platform.postgres import LOOKUPS_BY_KEY, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import RateCard
from abacus.programs.tiers.accounts import know, lock, write
from abacus.programs.tiers.calendar import move_calendar, rolled_through
from abacus.programs.tiers.decide.policy import LONG_AGO, ONE_DAY, period_of
from abacus.programs.tiers.decide.tier_change import Change, Known, roll

Result = TypeVar("Result")

_BATCH: Final = 1000
_LEASE: Final = "abacus tiers roll "

_SET: Final = Statement("select set_config(:name, :setting, false)")

_UNFINISHED: Final = Statement("""
select through from tier_roll where country = :country and finished_at is null order by through limit 1
""")

# A tier may last to a day that no present card's period ends on: its policy was another, or is gone.
_LAST_LAPSED: Final = Statement("select max(until) from account_tier where country = :country and until < :today")

_FOUND: Final = Statement("select count(*) from account_tier where country = :country and until <= :through")

_BEGIN: Final = Statement("""
insert into tier_roll (country, through, found, started_at) values (:country, :through, :found, :now)
on conflict do nothing
""")

_NOTE: Final = Statement("""
update tier_roll set stepped_down = stepped_down + :stepped_down, kept = kept + :kept
where country = :country and through = :through
""")

_FINISH: Final = Statement("""
update tier_roll set finished_at = :now where country = :country and through = :through and finished_at is null
""")


class _Days(NamedTuple):
    """The days of a country in a slice: of a run that was broken off, of the last tier that ended, of the last run."""

    unfinished: date | None
    last_lapsed: date | None
    rolled_through: date


class Lapsed(NamedTuple):
    """An account whose tier lasted to that day."""

    until: date
    member_id: str
    program: str

    @property
    def id(self) -> AccountId:
        return self.member_id, self.program


_NONE: Final = Lapsed(LONG_AGO, "", "")


def lapsed_next(batch: int) -> Statement:
    """The accounts that are to step down next, `batch` at a time."""
    return Statement(f"""
    select {columns(Lapsed)} from account_tier
    where country = :country and until <= :through and (until, member_id, program) > (:until, :member_id, :program)
    order by until, member_id, program
    limit {batch}
    """)


class Run(NamedTuple):
    """The record of a run, in a slice or in all of them together. `kept` counts accounts that have the same tier by the
    points earned since, at a lower threshold; an account that earned it at the same threshold is not selected, because
    that tier lasts longer.
    """

    country: str
    through: date
    found: int
    stepped_down: int
    kept: int
    started_at: datetime
    finished_at: datetime | None


MembersRolled = Callable[[Run], None]  # how far the run is after one more page of members

_RUN: Final = Statement(f"select {columns(Run)} from tier_roll where country = :country and through = :through")


class Roll:
    """Ends the periods that are over. Every method raises `Unavailable` while the database is away."""

    def __init__(
        self,
        pool: Pool,
        book: CardBook,
        clock: Clock,
        *,
        progress: MembersRolled = lambda _: None,
        batch: int = _BATCH,
    ) -> None:
        self._lapsed_next = lapsed_next(batch)
        self._pool = pool
        self._book = book
        self._clock = clock
        self._progress = progress

    async def due(self, country: str) -> list[Run]:
        """Do the runs due in the country, a broken-off run first. Raises `Refused` when a run is under way."""
        runs: list[Run] = []
        async with self._alone(country) as leading:
            while (through := await self._next(country)) is not None:
                runs.append(await self._roll(leading, country, through))
        return runs

    async def rolled_through(self, country: str) -> date | None:
        """The last day whose end has been rolled in all slices."""
        through = min(await self._in_each(lambda connection: rolled_through(connection, country)))
        return None if through == LONG_AGO else through

    @asynccontextmanager
    async def _alone(self, country: str) -> AsyncIterator[Connection]:
        async with (
            passing_failures(),
            self._pool.acquire() as connection,
            lease(connection, _LEASE + country) as is_ours,
        ):
            if not is_ours:
                raise Refused(f"the tiers of {country} are being rolled already; let that run end")
            yield connection

    async def _in_each(self, work: Callable[[Connection], Awaitable[Result]]) -> list[Result]:
        results: list[Result] = []
        for each in await slices.slices_of(self._pool):
            async with _by_key(each) as connection:
                results.append(await work(connection))
        return results

    async def _next(self, country: str) -> date | None:
        """The day through which to roll next."""
        now = self._clock.now()
        card = self._card(country, now)
        today = None if card is None else now.astimezone(card.zone).date()

        async def look(connection: Connection) -> _Days:
            return _Days(
                await connection.fetchval(*_UNFINISHED(country=country)),
                await connection.fetchval(*_LAST_LAPSED(country=country, today=today)),
                await rolled_through(connection, country),
            )

        known = await self._in_each(look)
        if begun := [each.unfinished for each in known if each.unfinished is not None]:
            return min(begun)
        if card is None:
            return None
        ended = [each.last_lapsed for each in known if each.last_lapsed is not None]
        if card.tier_policy is not None:
            ended.append(period_of(now, card.zone, card.tier_policy.period_months).starts_on - ONE_DAY)
        through = max(ended, default=LONG_AGO)
        return through if through > min(each.rolled_through for each in known) else None

    async def _roll(self, leading: Connection, country: str, through: date) -> Run:
        runs = await self._in_each(lambda connection: self._begin(connection, country, through))
        for number, each in enumerate(await slices.slices_of(self._pool)):
            async with _by_key(each) as connection:
                after = _NONE
                while rows := await connection.fetch(
                    *self._lapsed_next(country=country, through=through, **after._asdict())
                ):
                    lapsed = [Lapsed(*row) for row in rows]
                    await still_held(leading)
                    async with slices.in_place(connection):
                        await self._step(connection, country, through, [account.id for account in lapsed])
                    after = lapsed[-1]
                    runs[number] = await _run(connection, country, through)
                    self._progress(_together(runs))
                await connection.execute(*_FINISH(country=country, through=through, now=self._clock.now()))
                runs[number] = await _run(connection, country, through)
        return _together(runs)

    async def _begin(self, connection: Connection, country: str, through: date) -> Run:
        async with slices.in_place(connection):
            await move_calendar(connection, country, through)
            found = await connection.fetchval(*_FOUND(country=country, through=through))
            await connection.execute(*_BEGIN(country=country, through=through, found=found, now=self._clock.now()))
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
        await connection.execute(*_NOTE(country=country, through=through, stepped_down=stepped_down, kept=kept))

    def _card(self, country: str, now: datetime) -> RateCard | None:
        try:
            return self._book.in_force(country, now).card
        except SetAside:
            return None  # its first card is still to come


@asynccontextmanager
async def _by_key(slice_: slices.Slice) -> AsyncIterator[Connection]:
    """Everything in it is looked up by key, as in posting."""
    async with slice_.at() as connection:
        for name, setting in LOOKUPS_BY_KEY.items():
            await connection.execute(*_SET(name=name, setting=setting))
        yield connection


def _together(runs: Sequence[Run]) -> Run:
    """The runs of all slices as one, which is finished with the last of them."""
    finished = [run.finished_at for run in runs if run.finished_at is not None]
    return runs[0]._replace(
        found=sum(run.found for run in runs),
        stepped_down=sum(run.stepped_down for run in runs),
        kept=sum(run.kept for run in runs),
        started_at=min(run.started_at for run in runs),
        finished_at=max(finished) if len(finished) == len(runs) else None,
    )


async def _run(connection: Connection, country: str, through: date) -> Run:
    return Run(*await connection.fetchrow(*_RUN(country=country, through=through)))
