"""Statements are read day by day, and months billed, whatever a partner does."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.books.keeper import BooksKeeper
from abacus.exchanges.decide.heard import Heard, Silence
from abacus.exchanges.decide.matching import BreakKind
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.types import Account, Match, PartnerStatement, StatementLine, StatementState, Transfer
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool
from tests.support.exchange_rows import PROGRAMME
from tests.support.fixed_clock import FixedClock

NOW = datetime(2026, 7, 3, 12, tzinfo=UTC)
STARTS = date(2026, 6, 29)
YOUNG = replace(PROGRAMME, starts_at=datetime(2026, 6, 29, tzinfo=UTC))
LINE = StatementLine("x", StatementState.CREDITED, 7, NOW)


class Statements:
    """A partner that only tells statements: a day's, or what it raises for that day."""

    def __init__(self) -> None:
        self.said: dict[date, PartnerStatement | Exception] = {}
        self.asked: list[date] = []

    async def statement(self, day: date) -> PartnerStatement:
        self.asked.append(day)
        said = self.said.get(day, PartnerStatement(day, complete=True, lines=[]))
        if isinstance(said, Exception):
            raise said
        return said

    async def put(self, _: Transfer) -> Heard:
        return Silence("not asked for")

    async def get(self, _: UUID) -> Heard:
        return Silence("not asked for")

    cancel = reverse = get

    async def verify(self, _: Account) -> Match:
        return Match.NONE


class Kept:
    """A keeper of one programme, at a clock that is set."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.clock, self.partner = pool, FixedClock(NOW), Statements()
        self.programmes = [YOUNG]
        self.desk = BooksDesk(pool, self.clock)
        self.keeper = BooksKeeper(self.desk, self._programmes, lambda _: self.partner, self.clock)

    async def _programmes(self) -> list[Programme]:
        return self.programmes

    async def steps(self) -> int:
        async with self.pool.acquire() as connection:
            return await self.keeper.step(connection)

    async def breaks(self) -> Mapping[str, BreakKind]:
        return {each.about: each.kind for each in await self.desk.breaks() if each.tied_at is None}


@pytest.fixture
def kept(pool: Pool) -> Kept:
    return Kept(pool)


async def test_each_day_is_read_once_and_each_month_billed(kept: Kept) -> None:
    assert await kept.steps() == 1 + 4
    assert kept.partner.asked == [STARTS + timedelta(days=n) for n in range(4)]
    assert [made.bill.month for made in await kept.desk.bills("skymiles")] == ["2026-06"]
    assert await kept.steps() == 0
    kept.clock.set(NOW + timedelta(days=1))
    assert await kept.steps() == 1
    assert len(kept.partner.asked) == 5


async def test_a_partner_that_is_away_is_asked_again_and_missed_in_time(kept: Kept) -> None:
    kept.partner.said = {STARTS + timedelta(days=n): Unavailable("skyline", "away") for n in range(4)}
    assert await kept.steps() == 1
    missed = [(STARTS + timedelta(days=n)).isoformat() for n in range(3)]
    assert await kept.breaks() == dict.fromkeys(missed, BreakKind.MISSING)
    assert await kept.steps() == 0
    assert len(kept.partner.asked) == 4  # not again at once
    kept.clock.set(NOW + timedelta(minutes=16))
    kept.partner.said.clear()
    assert await kept.steps() == 4
    assert await kept.breaks() == {}


async def test_a_statement_that_is_not_complete_is_read_until_it_is(kept: Kept) -> None:
    day = STARTS + timedelta(days=3)
    kept.partner.said[day] = PartnerStatement(day, complete=False, lines=[])
    await kept.steps()
    kept.clock.set(NOW + timedelta(minutes=16))
    kept.partner.said[day] = PartnerStatement(day, complete=True, lines=[LINE])
    assert await kept.steps() == 1
    assert await kept.breaks() == {"x": BreakKind.NOT_OURS}


async def test_wrong_sums_are_a_break_and_nothing_is_read(kept: Kept) -> None:
    day = STARTS + timedelta(days=3)
    kept.partner.said[day] = Refused("the trailer says 2 lines; there are 3")
    await kept.steps()
    assert await kept.breaks() == {day.isoformat(): BreakKind.SUMS}
    kept.clock.set(NOW + timedelta(minutes=16))
    del kept.partner.said[day]
    await kept.steps()
    assert await kept.breaks() == {}


async def test_what_is_wrong_with_one_statement_holds_up_neither_other_days_nor_other_programmes(kept: Kept) -> None:
    line = LINE._replace(id="a\0b")  # it cannot be stored
    kept.partner.said = {STARTS: PartnerStatement(STARTS, complete=True, lines=[line])}
    kept.programmes = [YOUNG, replace(YOUNG, name="acme")]
    assert await kept.steps() == 2 * (1 + 3)
    assert await kept.steps() == 0  # not again at once
    kept.partner.said.clear()
    kept.clock.set(NOW + timedelta(minutes=16))
    assert await kept.steps() == 2


async def test_a_day_without_a_statement_is_one_break_until_a_person_closes_it(kept: Kept) -> None:
    kept.partner.said = {STARTS: Unavailable("skyline", "away")}
    for n in range(3):
        kept.clock.set(NOW + n * timedelta(minutes=16))
        await kept.steps()
        for each in await kept.desk.breaks():
            assert n == 0
            await kept.desk.close(each, Actor("ann", ()), "the partner was not open yet")
