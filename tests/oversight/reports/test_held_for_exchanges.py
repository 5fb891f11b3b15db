"""Points that are held for exchanges stand apart in the report of liability until their partners have decided."""

from datetime import datetime, timedelta
from uuid import uuid4

from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.heard import Credited, Heard, Pending, Rejected
from abacus.exchanges.types import Transfer
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Reserve
from abacus.oversight.reports.accounts import balances
from abacus.oversight.reports.decide.liability import ProgramBalance
from abacus.oversight.reports.homes import homes
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.book import CardBook
from tests.support.exchange_house import ExchangeHouse
from tests.support.memory_partner import MemoryPartner
from tests.support.rewards import CARDS, give_points

_BOOK = CardBook(list(CARDS.values()))
_HOUR = timedelta(hours=1)


async def _at(pool: Pool, moment: datetime) -> ProgramBalance:
    async with snapshot(pool) as connection:
        where = await homes(connection, _BOOK, moment)
        (found,) = await balances(connection, where, [moment] * len(where.countries))
    return found


async def test_what_is_held_for_exchanges_is_captured_or_released_later(pool: Pool) -> None:
    """Bob's is credited, eve's refused, and a hold of another kind is none."""
    await give_points(pool, ["bob", "eve"], 10_000)
    partner = MemoryPartner()
    house = ExchangeHouse(pool, partner=partner)
    await house.prefund()
    said: dict[int, Heard] = {2_500: Pending(), 1_000: Pending()}
    partner.decides = lambda transfer: said[transfer.points]
    bobs = await house.exchange(2_500, "bob", "k1")
    eves = await house.exchange(1_000, "eve", "k2")
    now = house.clock.now()
    other = Reserve("h1", "bob", "GRP", "SG", "f", 700, "a table", "acme", "partner:acme", uuid4(), now + 99 * _HOUR)
    await PostgresMoves(pool, house.clock).move([other])
    asked = now + _HOUR
    await house.later(timedelta(days=1))

    def decides(transfer: Transfer) -> Heard:
        is_bobs = transfer.exchange_id == bobs.exchange_id
        return Credited(transfer.amount, "r") if is_bobs else Rejected("account-closed", "closed")

    partner.decides = decides
    for each in (bobs, eves):
        await partner.put(partner.transfers[each.exchange_id])
    await house.later(timedelta(days=1))
    assert [(await house.now(each)).state for each in (bobs, eves)] == [State.CAPTURED, State.RELEASED]

    before, while_, behind = [await _at(pool, each) for each in (now - _HOUR, asked, house.clock.now() + _HOUR)]
    assert (before.held_for_exchanges, while_.held_for_exchanges, behind.held_for_exchanges) == (0, 3_500, 0)
    assert (while_.outstanding, behind.outstanding) == (20_000, 17_500)
    assert while_.ties
    assert behind.ties
