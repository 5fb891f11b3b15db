"""Both houses at random, on real rows: answers are lost and late, people cancel and reverse, and two processes work.

At the end each exchange has ended, and what was asked is held, captured or released here, and credited there, once.
"""

import asyncio
import random
from datetime import timedelta

import pytest

from abacus.core.errors import Refused
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.heard import Credited, Heard, Pending, Rejected
from abacus.exchanges.types import Transfer
from abacus.platform.postgres import Pool
from tests.support.exchange_house import SHOP, ExchangeHouse
from tests.support.exchanged import skymiles
from tests.support.memory_partner import MemoryPartner
from tests.support.rewards import give_points

MEMBERS = [f"m{number}" for number in range(5)]
POINTS = 50_000
STEPS = 60
_WAITS = (timedelta(0), timedelta(seconds=2), timedelta(minutes=5), timedelta(hours=2), timedelta(days=1))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
async def test_no_point_is_in_two_houses_or_in_none(pool: Pool, seed: int) -> None:
    chance = random.Random(seed)
    await give_points(pool, MEMBERS, POINTS)
    partner, asked = MemoryPartner(), list[Exchange]()
    houses = [ExchangeHouse(pool, skymiles(), partner=partner)]
    houses.append(ExchangeHouse(pool, skymiles(), partner=partner, clock=houses[0].clock))
    await houses[0].prefund()

    def decides(transfer: Transfer) -> Heard:
        refused = Rejected("cap-reached", "too many")
        said: list[Heard] = [Credited(transfer.amount, "r"), Pending(), refused, Credited(transfer.amount)]
        return chance.choice(said)

    partner.decides = decides
    partner.loses = lambda _: chance.random() < 0.5
    for step in range(STEPS):
        house = chance.choice(houses)
        match chance.choice(["exchange", "exchange", "later", "later", "cancel", "reverse", "again"]):
            case "exchange":
                asked.append(await house.exchange(500 * chance.randint(1, 4), chance.choice(MEMBERS), str(step)))
            case "later":
                house.clock.set(house.clock.now() + chance.choice(_WAITS))
                await asyncio.gather(*(each.exchanger.go_round() for each in houses))
            case deed if asked:
                await _do(deed, house, await house.now(chance.choice(asked)), partner)
    partner.loses = lambda _: False
    for _ in range(8):
        await houses[0].later(timedelta(days=1))
    ended = [await houses[0].now(each) for each in asked]
    assert {each.state for each in ended} <= {State.CAPTURED, State.RELEASED, State.REVERSED}
    for member in MEMBERS:
        spent = sum(each.points for each in ended if (each.member_id, each.state) == (member, State.CAPTURED))
        assert await houses[0].points(member) == (POINTS - spent, 0)
    assert partner.credited == sum(each.theirs for each in ended if each.state is State.CAPTURED)
    assert await pool.fetchval("select sum(points) from exchange_use") == 2 * sum(
        each.points for each in ended if each.state is State.CAPTURED
    )


async def _do(deed: str, house: ExchangeHouse, exchange: Exchange, partner: MemoryPartner) -> None:
    try:
        if deed == "cancel":
            await house.desk.cancel(exchange, SHOP)
        elif deed == "reverse":
            await house.desk.reverse(exchange, SHOP)
        elif (told := partner.books.get(exchange.exchange_id)) is not None:
            await house.hearing.heard("skymiles", exchange.exchange_id, told)
    except Refused:
        pass
