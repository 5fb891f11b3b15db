"""Ledgers in memory and on Postgres, as the tests of movements take them."""

import pytest

from tests.ledger.ledgers import NOW
from tests.life.ledgers import Living, LivingInMemory, LivingOnPostgres
from tests.support.fixed_clock import FixedClock


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Living:
    if request.param == "memory":
        return LivingInMemory(FixedClock(NOW))
    return LivingOnPostgres(request.getfixturevalue("pool"), FixedClock(NOW))
