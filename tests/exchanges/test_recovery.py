"""A house that was restored from a backup finds what its partners have credited since, or tells of each id."""

from dataclasses import replace
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
        self.stated: dict[UUID, int] = {}  # where the statement says another amount
        self.is_away = False

    async def recalled(self, exchange_id: UUID) -> Recalled | None:
        return self.remembered[exchange_id]

    async def statement(self, day: date) -> PartnerStatement:
        if self.is_away:
            raise Unavailable("skylines", "away")
        lines = [self._line(*each) for each in self.remembered.items()]
        return PartnerStatement(day, complete=False, lines=lines if day == self.now.date() else [])

    def _line(self, id_: UUID, recalled: Recalled | None) -> StatementLine:
        amount = self.stated.get(id_, 1000 if recalled is None else recalled.amount)
        return StatementLine(str(id_), StatementState.CREDITED, amount, self.now, "M-1")


class Restored:
    """A house that lost some hours."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.partner = pool, Remembering(datetime.now(UTC))
        self.house = ExchangeHouse(pool, partner=self.partner)
        self.clock = self.house.clock
        self.desk = BooksDesk(pool, self.clock)
        self.owners = {"SK-1": Owner(LINK, "bob", self.partner.now - timedelta(hours=2))}
        self.broken: set[str] = set()  # programmes of which nothing can be read
        self.others: list[Programme] = []
        self.timelines = Timelines(pool, self.clock)
        self.recovery = Recovery(
            pool,
            PostgresMoves(pool, self.clock),
            self.house.hearing,
            self.desk,
            self.clock,
            programmes=self._programmes,
            version_of=self._found_version,
            port_of=self._port_of,
            owner_of=self._owner_of,
        )

    async def _programmes(self) -> list[Programme]:
        return [*self.others, self.house.programme]

    async def _found_version(self, _: str, version: int) -> Programme | None:
        return self.house.programme if version == self.house.programme.version else None

    def _port_of(self, programme: Programme) -> Remembering:
        if programme.name in self.broken:
            raise ZeroDivisionError
        return self.partner

    async def _owner_of(self, _: str, number: str) -> Owner | None:
        return self.owners.get(number)

    async def steps(self) -> int:
        async with self.pool.acquire() as connection:
            return await self.recovery.step(connection)

    def credited(self, number: str = "SK-1", points: int = 2500, amount: int = 1000, label: str = "skymiles@1") -> UUID:
        id_ = uuid4()
        self.partner.remembered[id_] = Recalled(number, amount, points, label, "M-1")
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
    id_ = restored.credited(points=7500, amount=3000)
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


async def test_a_version_that_the_house_has_lost_too_is_a_break_and_holds_up_nothing(restored: Restored) -> None:
    lost, found = restored.credited(label="skymiles@9"), restored.credited()
    assert await restored.steps() >= 1
    assert await restored.breaks() == {str(lost): BreakKind.NOT_OURS}
    assert list(await of_ids(restored.pool, [lost, found])) == [found]
    name, days = restored.house.programme.name, [restored.clock.now().astimezone(UTC).date()]
    assert await restored.desk.unread(name, days, restored.clock.now()) == []


@pytest.mark.parametrize(
    ("points", "amount"),
    [(90_000, 1000), (2500, 90_000), (3000, 1000), (0, 1000), (-500, 1000), (10**30, 4 * 10**29), (2500, 0)],
)
async def test_points_that_do_not_buy_the_amount_are_a_break(restored: Restored, points: int, amount: int) -> None:
    await give_points(restored.pool, ["bob"], 100_000)
    id_ = restored.credited(points=points, amount=amount)
    restored.partner.stated[id_] = min(amount, 2**63 - 1)
    assert await restored.steps() >= 1
    assert await restored.breaks() == {str(id_): BreakKind.NOT_OURS}
    assert await restored.house.points() == (105_000, 0)


async def test_a_statement_that_says_another_amount_is_a_break(restored: Restored) -> None:
    id_ = restored.credited()
    restored.partner.stated[id_] = 999
    await restored.steps()
    assert await restored.breaks() == {str(id_): BreakKind.NOT_OURS}
    assert await restored.house.points() == (5000, 0)


async def test_an_account_that_was_linked_after_the_credit_is_a_break(restored: Restored) -> None:
    id_ = restored.credited()
    restored.owners["SK-1"] = Owner(LINK, "bob", restored.partner.now + timedelta(seconds=1))
    await restored.steps()
    assert await restored.breaks() == {str(id_): BreakKind.NOT_OURS}
    assert await restored.house.points() == (5000, 0)


async def test_what_is_wrong_with_one_programme_holds_up_no_other(restored: Restored) -> None:
    restored.others = [replace(restored.house.programme, name="acme")]
    restored.broken = {"acme"}
    id_ = restored.credited()
    assert await restored.steps() >= 1
    assert list(await of_ids(restored.pool, [id_])) == [id_]
