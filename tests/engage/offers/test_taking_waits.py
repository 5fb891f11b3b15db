"""Who comes second waits for the first, and goes by what the first has done."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from abacus.engage.limits.types import Bound
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool
from tests.engage.offers.taken import (
    GAIN,
    NOW,
    Desk,
    desk,
    held,
    limited,
    redeeming,
    releasing,
    rolling_back,
    sums,
    used_of,
    wish,
)
from tests.support.fixed_clock import FixedClock
from tests.support.waiting import waiting

BOB = "bob"
OFFER = limited(overall=Bound(runs=5), member=Bound(runs=5))


@pytest.fixture
def taking(pool: Pool) -> Desk:
    return desk(pool, FixedClock(NOW))


@asynccontextmanager
async def first(pool: Pool, statement: str) -> AsyncIterator[Connection]:
    """Somebody has carried this out for bob, and has not committed it."""
    async with (await slices.slice_of(pool, BOB)).within() as connection:
        await connection.execute(statement, BOB)
        yield connection


async def test_a_release_goes_by_the_one_before(taking: Desk, pool: Pool) -> None:
    of = await held(taking, wish(1, BOB, OFFER))
    async with first(pool, "update offer_reservation set status = 'released' where member_id = $1"):
        second = asyncio.create_task(taking.redemptions.settle(releasing(of)))
        await waiting(pool, second)
    assert (await second).replayed
    assert await used_of(pool) == {"": (1, GAIN.saves)}, "the first gives back"


async def test_a_rollback_goes_by_the_one_before(taking: Desk, pool: Pool) -> None:
    of = await held(taking, wish(1, BOB, OFFER))
    redemption = (await taking.redemptions.settle(redeeming(of, OFFER))).redemption
    assert redemption is not None
    async with first(pool, "update offer_reservation set status = 'rolled_back', cost = 0 where member_id = $1"):
        second = asyncio.create_task(taking.redemptions.roll_back(rolling_back(redemption, "r")))
        await waiting(pool, second)
    await second
    assert "rolled_back" not in await sums(pool), "the first adds it up"


async def test_what_a_member_takes_is_counted_by_one_at_a_time(taking: Desk, pool: Pool) -> None:
    await held(taking, wish(1, BOB, OFFER))
    async with first(pool, "select from offer_taker where member_id = $1 for update"):
        second = asyncio.create_task(held(taking, wish(2, BOB, OFFER)))
        await waiting(pool, second)
    assert (await second).status == "held"
