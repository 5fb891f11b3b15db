"""Members of before keep ids that no new member may have."""

import pytest

from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.port import Status
from abacus.platform.postgres import Pool
from tests.ledger.ledgers import NOW
from tests.ledger.moves import adjust, earn
from tests.support.fixed_clock import FixedClock

CLOCK = FixedClock(NOW)
_OF_BEFORE = "insert into account (member_id, program, country, balance) values ($1, 'GRP', 'SG', 0)"
STRANGE = ["=1+1", "bo\u200bb", "a\u00a0b"]


@pytest.mark.parametrize("member_id", STRANGE)
async def test_a_member_of_before_keeps_the_id_in_every_program(pool: Pool, member_id: str) -> None:
    ledger, moves = PostgresLedger(pool, CLOCK), PostgresMoves(pool, CLOCK)
    await pool.execute(_OF_BEFORE, member_id)
    more = [earn(5, "txn:rides:2", member_id=member_id), earn(5, "txn:rides:3", member_id=member_id, program="OVO")]
    assert [each.status for each in await ledger.post(more)] == [Status.POSTED] * 2
    (moved,) = await moves.move([adjust(5, member_id=member_id)])
    assert moved.status is Status.POSTED
