"""Processes that take offers are killed amid their work: nothing is lost, nothing counts twice, and limits hold."""

import asyncio
import sys
from collections import Counter

import pytest

from abacus.engage.offers.decide.reservation import LimitReached
from abacus.platform.postgres import Pool
from tests.engage.offers.taken import GAIN, NOW, desk, statuses, sums, used_of, wish
from tests.engage.offers.taking_process import LIMIT, OFFER
from tests.support.fixed_clock import FixedClock
from tests.support.paths import ROOT

REQUESTS = 1_200


async def _run(database_url: str, first: int, last: int, *, kill_after: int | None = None) -> dict[int, str]:
    """What a process says of its requests, until it is killed after so many."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.engage.offers.taking_process", database_url, str(first), str(last)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said: dict[int, str] = {}
    async for line in process.stdout:
        number, _, what = line.decode().strip().partition(" ")
        said[int(number)] = what
        if kill_after is not None and len(said) >= kill_after and process.returncode is None:
            process.kill()
    code = await process.wait()
    assert kill_after is not None or code == 0
    return said


@pytest.mark.long
async def test_killed_again_and_again(pool: Pool, database_url: str) -> None:
    """Two processes at a time are killed; then all requests come again, each to two processes."""
    middle = REQUESTS // 2
    before: dict[int, str] = {}
    for kills in ((40, 90), (150, 60)):
        pair = zip(((0, middle), (middle, REQUESTS)), kills, strict=True)
        for said in await asyncio.gather(*(_run(database_url, *part, kill_after=kill) for part, kill in pair)):
            before |= said
    again = await asyncio.gather(*(_run(database_url, 0, REQUESTS) for _ in range(2)))
    rows = await pool.fetch("select key, status from offer_reservation")
    status = {int(row["key"].rpartition(":")[2]): row["status"] for row in rows}
    done = {number: what for said in (before, *again) for number, what in said.items() if what != "refused"}
    assert {number: status[number] for number in done} == done
    counted = Counter(await statuses(pool))
    redeemed = counted["redeemed"]
    assert counted["held"] == 0
    assert await used_of(pool, OFFER) == {"": (redeemed, redeemed * GAIN.saves)}
    assert await pool.fetchval("select count(*) from offer_redemption") == redeemed
    assert await pool.fetchval("select count(distinct reservation_key) from offer_redemption") == redeemed
    most = (
        "select max(n) from (select count(*) n from offer_reservation where status = 'redeemed' group by member_id) m"
    )
    assert await pool.fetchval(most) <= 20
    added = {outcome: times for outcome, (times, _) in (await sums(pool)).items()}
    assert added == {"reserved": len(rows), "redeemed": redeemed, "released": counted["released"]}
    # What was given back is all there: others take the rest, to the last use.
    taking = desk(pool, FixedClock(NOW))
    for number in range(LIMIT - redeemed):
        await taking.reservations.reserve([wish(f"rest:{number}", f"rest{number}", OFFER)])
    with pytest.raises(LimitReached):
        await taking.reservations.reserve([wish("rest:last", "rest", OFFER)])
