"""Keeps the books by itself: reads each day's statement of each partner, and bills each month that is over."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.core.sources import CLOCK
from abacus.exchanges.alone import alone
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.matching import Break, BreakKind, end_of
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.types import PartnerPort
from abacus.platform.postgres import Connection
from abacus.programs.expiry.decide.month import Month

LOOKS_BACK: Final = timedelta(days=35)
MISSED_AFTER: Final = timedelta(hours=36)  # behind the end of a day
_AGAIN: Final = timedelta(minutes=15)

log = structlog.get_logger(__name__)


class BooksKeeper:
    """One process at a time steps. A partner that does not answer is asked again, and holds up no other; nor does
    anything that is wrong with the data of one programme.
    """

    def __init__(
        self,
        desk: BooksDesk,
        programmes: Callable[[], Awaitable[Iterable[Programme]]],
        port_of: Callable[[Programme], PartnerPort],
        clock: Clock,
    ) -> None:
        self._desk = desk
        self._programmes = programmes
        self._port_of = port_of
        self._clock = clock
        self._again_at: dict[tuple[str, date], datetime] = {}
        self._billed: dict[str, Month] = {}
        self._paid_as_of: dict[str, date] = {}

    async def step(self, _: Connection) -> int:
        """Returns how many statements were read and months billed. Raises `Unavailable` while the database is away."""
        done = 0
        for each in await self._programmes():
            done += await alone(each.name, self._bill(each))
            done += await alone(each.name, self._check_paid(each))
            done += await alone(each.name, self._read_due(each))
        return done

    async def _read_due(self, programme: Programme) -> int:
        done = 0
        for day in await self._due(programme):
            done += await alone(programme.name, self._read(programme, day))
        return done

    async def _due(self, programme: Programme) -> list[date]:
        now = self._clock.now()
        today = now.astimezone(UTC).date()
        since = max(programme.starts_at.astimezone(UTC).date(), today - LOOKS_BACK)
        lacking = await self._desk.lacking(programme, since, today - timedelta(days=1))
        due = [day for day in lacking if self._again_at.get((programme.name, day), now) <= now]
        overdue = [day for day in due if now >= end_of(day) + MISSED_AFTER]
        if overdue:
            await self._desk.note_missing(programme, overdue)
        return due

    async def _read(self, programme: Programme, day: date) -> int:
        self._again_at[programme.name, day] = self._clock.now() + _AGAIN
        try:
            statement = await self._port_of(programme).statement(day)
        except Unavailable as error:
            log.warning("statement not read", programme=programme.name, day=str(day), away=str(error))
            return 0
        except Refused as fault:
            log.warning("statement not believed", programme=programme.name, day=str(day), fault=str(fault))
            await self._desk.note(programme, [Break(BreakKind.SUMS, day.isoformat(), None, "", str(fault))])
            return 0
        matched = await self._desk.match(programme, statement)
        log.info("statement read", programme=programme.name, **matched._asdict())
        return 1

    async def _bill(self, programme: Programme) -> int:
        over = Month.last_over(self._clock.now(), programme.zone)
        known = self._billed.get(programme.name)
        if known is None:
            known = _last_billed(made.bill.month for made in await self._desk.bills(programme.name))
        first = Month.of(programme.starts_at.astimezone(programme.zone).date())
        if over < first or (known is not None and known >= over):
            return 0
        await self._desk.bill(programme, over, CLOCK)
        self._billed[programme.name] = over
        return 1

    async def _check_paid(self, programme: Programme) -> int:
        """Once a day."""
        today = self._clock.now().date()
        if self._paid_as_of.get(programme.name) != today:
            await self._desk.check_paid(programme)
            self._paid_as_of[programme.name] = today
        return 0


def _last_billed(months: Iterator[str]) -> Month | None:
    return max(map(Month.parse, months), default=None)
