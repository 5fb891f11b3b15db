"""What verifying takes for no fault: days that end meanwhile, older versions, and what happens while it looks."""

import asyncio
from datetime import timedelta

import pytest

from abacus.platform.postgres import Pool
from abacus.proof.processes import Helpers
from abacus.proof.verify import verify
from tests.ledger.moves import adjust, capture, hold, release
from tests.proof.busy import Busy, added, busy, gift, held, taken_back
from tests.proof.reported import lines
from tests.support.fixed_clock import FixedClock
from tests.support.sealing import NOW, RECHECK, earned, tampering
from tests.support.slices import of_parts


async def test_an_award_of_yesterday_that_is_taken_back_today(pool: Pool) -> None:
    """It counts for less in all; yesterday stays as it was, and today has used nothing."""
    clock = FixedClock(NOW)
    ledger = Busy(pool, clock)
    await ledger.opens()
    await ledger.post(gift(50), gift(7, "h"))
    clock.set(NOW + timedelta(days=1))
    await ledger.move(taken_back(20))
    assert lines(await verify(pool, RECHECK)) == []
    await ledger.post(gift(5, "i"))
    await ledger.move(taken_back(key="api:acme:r2", of="api:acme:i", part=2))
    assert lines(await verify(pool, RECHECK)) == []


async def test_a_clock_that_lags_around_midnight(pool: Pool) -> None:
    """What it posts counts for the day that another clock has begun."""
    midnight = NOW.replace(hour=0) + timedelta(days=1)
    clock = FixedClock(midnight + timedelta(seconds=1))
    ledger = Busy(pool, clock)
    await ledger.opens()
    await ledger.post(gift(50))
    clock.set(midnight - timedelta(seconds=1))
    await ledger.post(gift(5, "h"))
    await ledger.move(taken_back(2), taken_back(1, of="api:acme:h", key="api:acme:r2"))
    assert lines(await verify(pool, RECHECK)) == []


async def test_what_is_not_certain_of_older_versions_is_no_fault(pool: Pool, database_url: str) -> None:
    """They counted awards, and not adjustments and reversals; and awards of partners that nobody had registered."""
    ledger = Busy(pool)
    await ledger.opens()
    await ledger.post(gift(50), gift(7, "h"))
    await ledger.move(added(10), taken_back(20))
    written = "update transfer set format = 2 where kind <> 'earn'"
    for change, used in ((written, (47, 57, 37, 67)), ("update partner set created_at = created_at + '1 hour'", ())):
        async with tampering(database_url) as superuser:
            await superuser.execute(change)
            for each in (*used, *([0, 67] if not used else [])):
                await superuser.execute(of_parts(f"update allowance set used = {each}, used_that_day = {each}"))
                await superuser.execute("update allowance_member set used = $1", each)
                assert await _of_points(pool) == [], each
            await superuser.execute(of_parts("update allowance set used = 68"))
    assert await _of_points(pool) == ["partner acme: its used points are 68, its transfers come to -20 to 67"]


async def _of_points(pool: Pool) -> list[str]:
    """The faults of partners, but for the time that this test gives to the registration."""
    told = lines(await verify(pool, RECHECK))
    return [line for line in told if line.startswith("partner") and " created_at " not in line]


@pytest.mark.long
async def test_what_happens_meanwhile_is_no_fault(pool: Pool, database_url: str) -> None:
    """Everything is looked at in one snapshot: giving, holding, capturing, taking back, adjusting, approving."""
    ledger = await busy(pool)
    over = asyncio.Event()

    async def live(lane: int) -> int:
        number = 0
        while not over.is_set():
            number += 1
            name = f"{lane}-{number}"
            await ledger.post(earned(f"new-{name}", 1), gift(1, f"g{name}"))
            await ledger.move(held(2, name), held(1, f"r{name}"))
            await ledger.move(capture(1, name=name), release(name=f"r{name}"))
            await ledger.move(taken_back(of=f"api:acme:g{name}", key=f"api:acme:b{name}"), hold(1, f"o{name}"))
            await ledger.large(adjust(3, f"adjust:{name}"))
            await ledger.large(adjust(101, f"adjust:large-{name}"))
        return number

    lanes = [asyncio.create_task(live(lane)) for lane in range(2)]
    try:
        with Helpers(database_url, 2) as helpers:
            reports = [await verify(pool, RECHECK, helpers=each) for each in (None, helpers, None)]
    finally:
        over.set()
        rounds = await asyncio.gather(*lanes)
    assert [lines(report) for report in reports] == [[]] * 3
    assert min(rounds) > 1
    assert lines(await verify(pool, RECHECK)) == []
