"""A house that was restored from a backup finds what its partners have credited since, or tells of each id."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from abacus.core.errors import Unavailable
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.matching import BreakKind
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.recalled import Owner
from abacus.exchanges.exchange_rows import of_ids, trail_of
from abacus.exchanges.position_rows import standings
from abacus.exchanges.recovery import Recovery
from abacus.exchanges.timeline import Timelines
from abacus.exchanges.types import PartnerStatement, Recalled, StatementLine, StatementState
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader
from abacus.platform.postgres import Pool
from tests.support.exchange_house import LINK, ExchangeHouse
from tests.support.memory_partner import MemoryPartner
from tests.support.rewards import give_points


class Remembering(MemoryPartner):
    """A partner that has credited more than the house knows."""

    def __init__(self, now: datetime) -> None:
        super().__init__()
        self.now = now
        self.remembered: dict[UUID, Recalled | None] = {}
        self.is_away = False

    async def recalled(self, exchange_id: UUID) -> Recalled | None:
        return self.remembered[exchange_id]

    async def statement(self, day: date) -> PartnerStatement:
        if self.is_away:
            raise Unavailable("skylines", "away")
        now = self.now
        lines = [StatementLine(str(each), StatementState.CREDITED, 1000, now, "M-1") for each in self.remembered]
        return PartnerStatement(day, complete=False, lines=lines if day == now.date() else [])


class Restored:
    """A house that lost some hours."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.partner = pool, Remembering(datetime.now(UTC))
        self.house = ExchangeHouse(pool, partner=self.partner)
        self.clock = self.house.clock
        self.desk = BooksDesk(pool, self.clock)
        self.owners: dict[str, Owner] = {"SK-1": Owner(LINK, "bob")}
        self.timelines = Timelines(pool, self.clock)
        self.recovery = Recovery(
            pool,
            PostgresMoves(pool, self.clock),
            self.house.hearing,
            self.desk,
            self.clock,
            programmes=self._programmes,
            version_of=self.house.version_of,
            port_of=lambda _: self.partner,
            owner_of=self._owner_of,
        )

    async def _programmes(self) -> list[Programme]:
        return [self.house.programme]

    async def _owner_of(self, _: str, number: str) -> Owner | None:
        return self.owners.get(number)

    async def steps(self) -> int:
        async with self.pool.acquire() as connection:
            return await self.recovery.step(connection)

    def credited(self, number: str = "SK-1", points: int = 2500) -> UUID:
        id_ = uuid4()
        self.partner.remembered[id_] = Recalled(number, 1000, points, "skymiles@1", "M-1")
        return id_

    async def breaks(self) -> dict[str, BreakKind]:
        return {each.about: each.kind for each in await self.desk.breaks() if each.tied_at is None}


@pytest.fixture
async def restored(pool: Pool) -> Restored:
    await give_points(pool, ["bob"], 5000)
    made = Restored(pool)
    await made.timelines.restored(made.clock.now() - timedelta(hours=1), "person:ann")
    return made


async def test_a_lost_credit_becomes_a_hold_and_a_capture_once(restored: Restored, pool: Pool) -> None:
    id_ = restored.credited()
    assert await restored.steps() >= 1
    [row] = (await of_ids(pool, [id_])).values()
    assert (row.state, row.member_id, row.points, row.theirs, row.reference) == (
        State.CAPTURED,
        "bob",
        2500,
        1000,
        "M-1",
    )
    assert [each.reason for each in await trail_of(pool, id_)][:1] == ["restored"]
    [account] = await LedgerReader(pool).accounts("bob")
    assert (account.balance, account.held) == (2500, 0)
    assert (await standings(pool))["skymiles"].balance == -10
    restored.clock.set(restored.clock.now() + timedelta(minutes=2))
    assert await restored.steps() >= 1
    assert await LedgerReader(pool).accounts("bob") == [account]
    assert await restored.breaks() == {}


async def test_points_that_are_gone_since_are_a_break(restored: Restored, pool: Pool) -> None:
    id_ = restored.credited(points=7500)
    await restored.steps()
    assert (await of_ids(pool, [id_])) == {}
    assert BreakKind.SHORT in {each.kind for each in await restored.desk.breaks()}


async def test_an_account_that_nobody_has_and_a_partner_that_tells_nothing_are_breaks(restored: Restored) -> None:
    nobodys, untold = restored.credited(number="SK-9"), uuid4()
    restored.partner.remembered[untold] = None
    await restored.steps()
    assert await restored.breaks() == dict.fromkeys(map(str, (nobodys, untold)), BreakKind.NOT_OURS)


async def test_a_partner_that_is_away_is_asked_again(restored: Restored) -> None:
    restored.partner.is_away = True
    restored.credited()
    assert await restored.steps() == 0
    name, days = restored.house.programme.name, [restored.clock.now().astimezone(UTC).date()]
    assert await restored.desk.unread(name, days, restored.clock.now()) == days
    restored.partner.is_away = False
    restored.clock.set(restored.clock.now() + timedelta(minutes=2))
    assert await restored.steps() >= 1
    assert await restored.desk.unread(name, days, restored.clock.now()) == []


async def test_nothing_is_looked_for_in_a_house_that_was_not_restored(restored: Restored) -> None:
    restored.credited()
    await restored.timelines.matched("person:ann")
    assert await restored.steps() == 0
    assert await restored.breaks() == {}
