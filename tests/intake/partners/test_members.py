"""What a partner, a person and the command line are shown of a member's accounts."""

from datetime import date

import pytest

from abacus.intake.partners.members import MemberReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.platform.postgres import Pool
from tests.ledger.ledgers import NOW
from tests.ledger.moves import Orders, adjust, earn, hold, refund, spend
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once

CLOCK = FixedClock(NOW)
NOVEMBER = date(2026, 11, 30)

# What happens, and the account after it: its balance, and the day after which the points lapse.
SHOWN: dict[str, tuple[Orders, int, date | None]] = {
    "points": ([earn(100)], 100, NOVEMBER),
    "all of them are held": ([earn(100), hold(100)], 100, NOVEMBER),
    "all of them are spent": ([earn(100), spend(100)], 0, None),
    "a transaction that is worth nothing": ([earn(0)], 0, None),
    "a debt": ([earn(100), spend(100, "api:acme:2"), refund("50.00")], -50, None),
    "a debt, and a transaction that does not pay it": (
        [earn(100), spend(100, "api:acme:2"), refund("50.00"), earn(20, "txn:rides:2")],
        -30,
        None,
    ),
    "a debt that is paid to the last point": (
        [earn(100), spend(100, "api:acme:2"), refund("50.00"), adjust(50)],
        0,
        None,
    ),
}


@pytest.mark.parametrize("name", SHOWN)
async def test_a_day_is_shown_where_there_are_points(pool: Pool, name: str) -> None:
    """Now, and as it was."""
    orders, balance, day = SHOWN[name]
    ledger, moves, reader = PostgresLedger(pool, CLOCK), PostgresMoves(pool, CLOCK), MemberReader(pool)
    for order in orders:
        if isinstance(order, Award):
            await ledger.post([order])
        else:
            await moves.move([order])
    shown = [(each.balance, each.expires_on) for each in [held.at(NOW) for held in await reader.holdings("bob")]]
    was = [(each.balance, each.expires_on) for each in await reader.as_of("bob", NOW)]
    assert (shown, was) == ([(balance, day)], [(balance, day)])
