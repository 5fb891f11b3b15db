"""Budgets and caps through the API: refused early where the API can tell, rejected at the posting where it cannot."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

import httpx
import pytest
from structlog.testing import capture_logs

from abacus.ledger.types.limits import Limits
from tests.support.house import House, until
from tests.support.problems import kind
from tests.support.shop import GRANT, award, register, shop

pytestmark = pytest.mark.once

_AT_ONCE: Final = 20


@pytest.mark.long
async def test_200_awards_against_a_budget_for_50(house: House) -> None:
    """Two API processes accept them all at once, two awarders post them: exactly 50 are posted."""
    key = await register(house, limits=Limits(in_total=5000))
    async with shop(house, "awarder") as first, shop(house, "awarder") as second:
        callers = [await first.caller(key), await second.caller(key)]
        bodies = [{**GRANT, "member_id": f"m{number % 10}"} for number in range(200)]
        answers = await asyncio.gather(*(award(callers[n % 2], f"k{n}", bodies[n]) for n in range(200)))
        for answer in answers:
            assert answer.status_code == 202 or (answer.status_code, kind(answer)) == (403, "budget-exhausted")
        accepted = [answer.json()["award_id"] for answer in answers if answer.status_code == 202]
        assert len(accepted) >= 50

        async def fate(award_id: str) -> str:
            return str((await callers[0].get(f"/v1/awards/{award_id}")).json()["status"])

        async def settled(award_id: str) -> None:
            async def is_settled() -> bool:
                return await fate(award_id) != "queued"

            await until(is_settled)

        for each in accepted:
            await settled(each)
        fates = Counter([await fate(each) for each in accepted])
        assert fates == Counter(posted=50, rejected=len(accepted) - 50)
        assert await house.transfers() == 50
        assert await house.pool.fetchval("select sum(balance) from account") == 5000


async def test_what_is_rejected_at_the_posting_says_why(house: House) -> None:
    key = await register(house, limits=Limits(per_member_day=150))
    async with shop(house, "awarder") as opened:
        acme = await opened.caller(key)
        assert (await award(acme, "a", Prefer="wait=10")).status_code == 201
        rejected = await award(acme, "b", Prefer="wait=10")
        assert (rejected.status_code, kind(rejected)) == (403, "member-day-cap-exceeded")
        assert "a member may get 150 a day" in rejected.json()["detail"]
        state = (await acme.get(f"/v1/awards/{rejected.json()['award_id']}")).json()
        assert (state["status"], state["reason"]) == ("rejected", "member-day-cap-exceeded")
        # It is final, and the key stands for it.
        again = await award(acme, "b", Prefer="wait=10")
        assert (again.status_code, kind(again)) == (403, "member-day-cap-exceeded")


@pytest.mark.long
async def test_what_can_be_told_early_is_refused_early(house: House) -> None:
    key = await register(house, limits=Limits(per_award=100, per_day=100))
    async with shop(house, "awarder") as opened:
        acme = await opened.caller(key)
        over = await award(acme, "a", {**GRANT, "points": 101})
        assert (over.status_code, kind(over)) == (403, "award-cap-exceeded")
        first = await award(acme, "b", Prefer="wait=10")
        assert first.status_code == 201

        async def exhausted() -> bool:
            answer = await award(acme, f"c-{asyncio.get_running_loop().time()}", {**GRANT, "member_id": "eve"})
            return answer.status_code == 403 and kind(answer) == "budget-exhausted"

        await until(exhausted)
        # An award that was accepted before still gets its first answer.
        again = await award(acme, "b")
        assert (again.status_code, again.headers["idempotency-replayed"]) == (202, "true")
        assert await house.pool.fetchval("select count(*) from account where balance > 0") == 1


@pytest.mark.long
async def test_two_processes_let_one_minutes_requests_pass(house: House) -> None:
    """A machine so busy that the buckets do not answer in time says nothing of them: then each process counts by
    itself, and another partner has its turn.
    """
    async with shop(house) as first, shop(house) as second:
        for partner in ("acme", "brand", "corner"):
            key = await register(house, partner, requests_per_minute=60)
            callers = [await first.caller(key), await second.caller(key)]
            with capture_logs() as logs:
                statuses, flowed = await _statuses(callers, 200)
            assert set(statuses) == {404, 429}
            if not any(log["event"] == "rate limits are counted by each process" for log in logs):
                assert 54 <= statuses[404] <= 66 + flowed
                return
    pytest.fail("the buckets did not answer any of three partners in time")


async def _statuses(callers: Sequence[httpx.AsyncClient], requests: int) -> tuple[Counter[int], float]:
    """The statuses of so many requests, a few at a time, and the seconds that they took: one flows back in each."""
    began = time.monotonic()
    statuses: Counter[int] = Counter()
    for start in range(0, requests, _AT_ONCE):
        wave = (callers[n % 2].get("/v1/members/bob") for n in range(start, start + _AT_ONCE))
        statuses.update(answer.status_code for answer in await asyncio.gather(*wave))
    return statuses, time.monotonic() - began
