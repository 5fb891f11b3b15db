"""Exchanges against ledger, limits and positions: what comes out has no fault, and every other thing is told."""

from decimal import Decimal

import orjson
import pytest

from abacus.exchanges.decide.exchange import Exchange, State, award_key, ledger_key
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.decide.programme_document import to_document
from abacus.oversight.reconcile.decide.exchanged import Entered, Hold, Kept, Posted, faults_of
from abacus.oversight.reconcile.exchanges import exchange_books
from abacus.platform.postgres import Pool
from tests.support.exchange_house import SHOP, ExchangeHouse
from tests.support.exchanged import exchange, skymiles
from tests.support.memory_partner import MemoryPartner, refuses
from tests.support.rewards import give_points
from tests.support.sealing import tampering

OUT = exchange(State.CAPTURED)
IN = exchange(State.AWARDED, direction=Direction.IN, reference="T-1")
HELD = Entered("held", 2500, 1000, Decimal(10))
CAPTURED = HELD._replace(kind="captured")
HOLD = Hold(2500, "captured", "exchange:skymiles")
POSTED = {"hold": Posted("hold", 0), "capture": Posted("exchange_out", -2500)}


def kept(entries: tuple[Entered, ...] = (HELD, CAPTURED), hold: Hold | None = HOLD, **posted: Posted) -> Kept:
    acts = {**POSTED, **posted}
    return Kept({ledger_key(OUT.exchange_id, act): each for act, each in acts.items()}, hold, entries)


@pytest.mark.parametrize(
    ("row", "has", "faults"),
    [
        (OUT, kept(), []),
        (OUT._replace(state=State.REVERSING), kept(), []),
        (
            OUT._replace(state=State.CREDITED),
            kept(),
            [
                "it is credited, and its capture is posted",
                "it is credited, and its hold is captured",
                "it is credited, and the position has an entry captured",
            ],
        ),
        (
            OUT._replace(state=State.RELEASED),
            kept((HELD,), HOLD._replace(status="open")),
            [
                "it is released, and its release is not posted",
                "it is released, and its capture is posted",
                "it is released, and its hold is open",
                "it is released, and the position has no entry released",
            ],
        ),
        (OUT, kept(hold=None), ["it is captured, and its hold is not there"]),
        (OUT, kept(hold=HOLD._replace(points=9)), ["its hold has 9 points, not 2,500"]),
        (OUT, kept(hold=HOLD._replace(settled_by=None)), ["its hold is settled by time"]),
        (
            OUT,
            kept(capture=Posted("spend", -2400)),
            ["its capture is spend of -2,400 points, not exchange_out of -2,500"],
        ),
        (OUT, kept((HELD, CAPTURED._replace(points=9))), ["its entry captured is of 9 for 1,000"]),
        (OUT, kept((HELD, CAPTURED._replace(money=Decimal(9)))), ["its entries are of 10 and 9"]),
        (OUT._replace(state=State.QUOTED), Kept({}, HOLD, ()), ["it is quoted, and has a hold"]),
        (IN._replace(state=State.COMMITTED), Kept({}, None, ()), []),
        (
            IN._replace(state=State.DROPPED),
            Kept({award_key("skylines", "T-1"): Posted("exchange_in", 2500)}, None, ()),
            ["it is dropped, and its award is posted"],
        ),
    ],
)
def test_what_does_not_come_out_of_one_is_told(row: Exchange, has: Kept, faults: list[str]) -> None:
    assert list(faults_of(row, has)) == faults


async def a_house(pool: Pool) -> ExchangeHouse:
    """An exchange that was captured, one that was released, and one whose points came back."""
    await give_points(pool, ["bob"], 20_000)
    partner = MemoryPartner()
    house = ExchangeHouse(pool, skymiles(), partner=partner)
    await pool.execute(
        """
        insert into exchange_programme (name, version, country, starts_at, ends_at, document, status, drafted_at,
            drafted_by, changed_at, changed_by, approved_by, approved_at)
        values ('skymiles', 1, 'SG', $1, $1, $2::jsonb, 'approved', $1, 'ann', $1, 'ann', 'eve', $1)
        """,
        house.clock.now(),
        orjson.dumps(to_document(house.programme)).decode(),
    )
    await house.prefund()
    await house.exchange(key="1")
    back = await house.exchange(key="2")
    await house.later()
    await house.desk.reverse(await house.now(back), SHOP)
    partner.decides = refuses("account-closed")
    await house.exchange(key="3")
    await house.later()
    house.room = 0
    await house.exchange(key="4")
    return house


async def test_what_was_exchanged_comes_out_or_is_told(pool: Pool, database_url: str) -> None:
    await a_house(pool)
    assert await exchange_books(pool) == (4, 1, [])
    async with tampering(database_url) as owner:
        await owner.execute("update exchange_use set points = 1 where period = ''")
        await owner.execute("update exchange_standing set balance = 1")
        await owner.execute("update exchange_position set exchange_id = gen_random_uuid() where kind = 'released'")
        await owner.execute("delete from exchange where state = 'held'")
    assert {each.fault for each in (await exchange_books(pool)).faults} == {
        "1 points are counted, 2,500 were exchanged",
        "5,000 points are counted, 2,500 were exchanged",
        "it stands at 1 after 9 entries, and 9 entries come to 980.00; 0 have another number or balance",
        "entry 7 is of an exchange that there is not",
        "entry 9 is of an exchange that there is not",
        "it is released, and the position has no entry released",
        "8 movements of exchanges are posted, 7 have an exchange",
        "2,500 points are held for good, and no exchange settles them",
    }
