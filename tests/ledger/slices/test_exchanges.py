"""Exchanges of a ledger in slices: two are worked in at once, and one that is away keeps nobody else waiting."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import uuid4

from abacus.core.clock import Clock
from abacus.engage.notify.notices import Notices
from abacus.exchanges.converter import Conversion
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.decide.quote import Wish
from abacus.exchanges.exchange_rows import Step, enter, tell
from abacus.exchanges.settler import Beside
from abacus.exchanges.teller import Teller
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Declined, Moved, Movement
from abacus.oversight.reports.accounts import balances
from abacus.oversight.reports.homes import homes
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Connection, Pool, snapshot
from abacus.pricing.decide.book import CardBook
from tests.ledger.slices.eight import MEMBERS, bring_back, take_away
from tests.support.exchange_house import PREFUND, SHOP, ExchangeHouse, prefund
from tests.support.exchanged import NOW, SKYMILES, exchange
from tests.support.exchanges import enter_partner
from tests.support.fixed_clock import FixedClock
from tests.support.rewards import CARDS, give_points

AWAY: Final = 3
BANKPOINTS: Final = replace(SKYMILES, name="bankpoints")


class _AdmittedTogether:
    """`Beside`, of which nothing is written before the movements of two slices are admitted."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._admitted = 0
        self._both = asyncio.Event()

    async def admit(self, connection: Connection, movements: Sequence[Movement]) -> Mapping[str, Declined]:
        refused = await self._beside.admit(connection, movements)
        self._admitted += 1
        if self._admitted == 2:
            self._both.set()
        async with asyncio.timeout(10):
            await self._both.wait()
        return refused

    async def write(self, connection: Connection, moved: Sequence[Moved]) -> None:
        await self._beside.write(connection, moved)


class _SideBySide:
    """`MovesBeside` in two slices at once."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._moves = PostgresMoves(pool, clock)

    async def move_beside(self, movements: Sequence[Movement], beside: Beside) -> list[Moved]:
        assert len(movements) == 2
        return await self._moves.move_beside(movements, _AdmittedTogether(beside))


class _House(ExchangeHouse):
    """With two programmes."""

    def programmes(self) -> Programmes:
        around = ExchangePublications(self.clock.now())
        return Programmes([InForce(each, around) for each in (SKYMILES, BANKPOINTS)])

    async def version_of(self, name: str, version: int) -> Programme:
        return self.programmes().by_name[name].programme

    async def quote_of(self, programme: str, member: str) -> Conversion:
        quote = await self.desk.quote(Wish(member, programme, points=2500), await self.standings(member), SHOP)
        assert quote.exchange is not None
        return Conversion(quote.exchange.exchange_id, f"{SHOP.source}\n{programme}", SHOP)


async def test_two_slices_work_for_two_programmes_at_once(pool: Pool) -> None:
    """Each holds and captures under the standing that it has locked."""
    by_member = dict(zip(MEMBERS, ("skymiles", "bankpoints"), strict=False))
    await give_points(pool, [*by_member], 10_000)
    house = _House(pool, moves=lambda clock: _SideBySide(pool, clock))
    for programme in by_member.values():
        await prefund(pool, programme, PREFUND)
    quotes = [await house.quote_of(programme, member) for member, programme in by_member.items()]
    held = await asyncio.gather(*map(house.desk.convert, quotes))
    assert [each.state for each in held] == [State.HELD] * 2
    credited = [each._replace(state=State.CREDITED, turns=each.turns + 1) for each in held]
    settled = await house.settler.settle([Step(*each) for each in zip(held, credited, strict=True)])
    assert [each.state for each in settled] == [State.CAPTURED] * 2
    assert [await house.points(member) for member in by_member] == [(7500, 0)] * 2
    for programme in by_member.values():
        rows = await pool.fetch("select kind from exchange_position where programme = $1 order by n", programme)
        assert [row["kind"] for row in rows] == ["payment", "held", "captured"]


async def test_what_is_held_for_exchanges_is_the_sum_of_all_slices(pool: Pool) -> None:
    await give_points(pool, MEMBERS, 10_000)
    house = ExchangeHouse(pool)
    await house.prefund()
    for number, member in enumerate(MEMBERS, 1):
        await house.exchange(500 * number, member, str(number))
    async with snapshot(pool) as connection:
        where = await homes(connection, CardBook(list(CARDS.values())), NOW)
        (found,) = await balances(connection, where, where.whenever())
    assert (found.held_for_exchanges, found.ties) == (500 * sum(range(1, len(MEMBERS) + 1)), True)


async def test_a_slice_that_is_away_keeps_no_other_from_being_told(pool: Pool, owner: Connection) -> None:
    clock = FixedClock(NOW)
    await enter_partner(pool, clock, "shop")
    await WebhookStore(pool, clock, Secrets.of(None)).set("shop", "https://shop.example/hook", new_secret())
    rows = [exchange(State.HELD, exchange_id=uuid4(), member_id=each, source="partner:shop") for each in MEMBERS]
    await enter(pool, rows)
    telling = Teller(pool, clock, _version_of, Notices(pool, clock))
    await take_away(owner, AWAY, "notice", "webhook_delivery")
    await _tell(pool, telling, rows, 1)
    await _tell(pool, telling, rows, 2)
    assert await _told(owner, [each for each in MEMBERS if each != MEMBERS[AWAY]]) == [(2, 2)] * 7
    assert await owner.fetchval("select xid::text from exchange_cursor") == "0"
    await bring_back(owner, AWAY, "notice", "webhook_delivery")
    await _step_until(pool, telling, 16)
    assert await _told(owner, MEMBERS) == [(2, 2)] * 8
    assert await owner.fetchval("select xid::text from exchange_cursor") != "0"


async def _version_of(_: str, __: int) -> Programme:
    return SKYMILES


async def _tell(pool: Pool, telling: Teller, rows: Sequence[Exchange], n: int) -> None:
    """A turn of each."""
    async with pool.acquire() as connection:
        await tell(connection, [Turn(each.exchange_id, n, State.HELD, NOW, "clock", None, None) for each in rows])
    await _step_until(pool, telling, len(rows))


async def _step_until(pool: Pool, telling: Teller, turns: int) -> None:
    """Turns are told once no open transaction can precede them: those of other tests on this server are waited for."""
    told = 0
    async with asyncio.timeout(20):
        while told < turns:
            async with pool.acquire() as connection:
                told += await telling.step(connection)
            await asyncio.sleep(0.01)
    assert told == turns


async def _told(owner: Connection, members: Sequence[str]) -> list[tuple[int, int]]:
    """How many notices there are of each member, and messages to the partner."""
    count = "select (select count(*) from slice_{0}.notice), (select count(*) from slice_{0}.webhook_delivery)"
    return [tuple(await owner.fetchrow(count.format(MEMBERS.index(each)))) for each in members]
