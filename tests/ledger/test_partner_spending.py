"""Adjustments and reversals of partners count against their limits as awards do, on every ledger there is."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Final

import pytest

from abacus.core.clock import SystemClock
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.movement import Adjustment, Reversal, Spend
from abacus.ledger.types.port import Status
from abacus.platform.postgres import Pool
from tests.ledger.ledgers import NOW, OpenLedger, OpenMemoryLedger, OpenPostgresLedger, award
from tests.ledger.moves import ACME, Orders, adjust, earn, parted, reverse, spend
from tests.support.fixed_clock import FixedClock

P, D, DONE = "posted", "duplicate", "reversed-already"
BUDGET, CAP, MEMBER_DAY = "budget-exhausted", "award-cap-exceeded", "member-day-cap-exceeded"


def gift(points: int, key: str = "g", **changes: object) -> Award:
    return award(key=f"api:acme:{key}", points=points, activity=False, **changes)


def added(points: int, key: str = "a", member: str = "bob") -> Adjustment:
    return adjust(points, f"api:acme:{key}", member_id=member, source=ACME.source)


def back(of: str, part: int | None = None, key: str = "r", source: str = ACME.source) -> Reversal:
    return reverse(of, part, key, source=source)


def spent(points: int, key: str = "s") -> Spend:
    return spend(points, f"api:acme:{key}")


# Limits; awards and movements, one batch after the other; what becomes of each; the points used in the end. Bob has
# earned 100 by a transaction before.
CASES: Final[dict[str, tuple[Limits, list[Orders], list[list[str]], int]]] = {
    "no limits": (Limits(), [[added(1000)]], [[P]], 1000),
    "a cap on each": (Limits(per_award=10), [[added(11), added(10, "b")]], [[CAP, P]], 10),
    "a budget of a day": (Limits(per_day=30), [[added(20), added(11, "b"), added(10, "c")]], [[P, BUDGET, P]], 30),
    "a budget in all, with awards": (
        Limits(in_total=30),
        [[gift(20)], [added(11), added(10, "b")], [gift(1, "h")]],
        [[P], [BUDGET, P], ["rejected"]],
        30,
    ),
    "a member's day": (
        Limits(per_member_day=15),
        [[gift(10)], [added(6), added(5, "b"), added(15, "c", "jane")]],
        [[P], [MEMBER_DAY, P, P]],
        30,
    ),
    "what is taken counts for nothing": (Limits(in_total=10), [[added(-50), added(10, "b")]], [[P, P]], 10),
    "a refused one holds up no other and leaves its key free": (
        Limits(in_total=10),
        [[added(11), added(4, "b")], [added(6)]],
        [[BUDGET, P], [P]],
        10,
    ),
    "the same again": (Limits(in_total=10), [[added(6)], [added(6)], [added(4, "b")]], [[P], [D], [P]], 10),
    "a spend that is given back": (
        Limits(in_total=50),
        [[spent(60)], [back("api:acme:s")], [back("api:acme:s", 50)], [back("api:acme:s", 10, "q")]],
        [[P], [BUDGET], [P], [BUDGET]],
        50,
    ),
    "an adjustment that is given back": (
        Limits(in_total=30),
        [[added(-40)], [back("api:acme:a", 31)], [back("api:acme:a", 30)]],
        [[P], [BUDGET], [P]],
        30,
    ),
    "its own award, taken back": (
        Limits(in_total=50),
        [[gift(50)], [back("api:acme:g", 20)], [gift(20, "h")], [added(1)]],
        [[P], [P], [P], [BUDGET]],
        50,
    ),
    "its own award, spent before it is taken back": (
        Limits(in_total=50),
        [[gift(50)], [spent(130)], [back("api:acme:g")], [gift(21, "h"), gift(20, "i")]],
        [[P], [P], [P], ["rejected", P]],
        50,
    ),
    "its own adjustment, taken back": (
        Limits(in_total=50),
        [[added(50)], [back("api:acme:a")], [gift(1)]],
        [[P], [P], ["rejected"]],
        50,
    ),
    "another's award, taken back": (
        Limits(in_total=50),
        [[gift(50)], [back("txn:rides:1")], [gift(1, "h")]],
        [[P], [P], ["rejected"]],
        50,
    ),
    "its own award, taken back by a person": (
        Limits(in_total=50),
        [[gift(50)], [back("api:acme:g", source="person:ann")], [gift(1, "h")]],
        [[P], [P], ["rejected"]],
        50,
    ),
    "a person's adjustment": (Limits(in_total=0), [[adjust(1000)]], [[P]], 0),
}


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> OpenLedger:
    if request.param == "memory":
        return OpenMemoryLedger(FixedClock(NOW))
    return OpenPostgresLedger(request.getfixturevalue("pool"), FixedClock(NOW))


async def fates(ledger: OpenLedger, batch: Orders) -> list[str]:
    awards, movements = parted(batch)
    outcomes = [*(await ledger.post(awards) if awards else ()), *(await ledger.move(movements) if movements else ())]
    return [each.status.value if each.fault is None else each.fault.reason.value for each in outcomes]


@pytest.mark.parametrize("name", CASES)
async def test_what_counts(ledger: OpenLedger, name: str) -> None:
    limits, batches, expected, used = CASES[name]
    await ledger.allow("acme", limits)
    await ledger.post([earn(100)])
    assert [await fates(ledger, batch) for batch in batches] == expected
    allowance = await ledger.allowance("acme")
    assert (allowance.used, allowance.used_that_day) == (used, used)


async def test_an_award_of_yesterday_gives_nothing_back_today() -> None:
    """In all it does; the budget of yesterday is over, and today's was not used for it."""
    clock = FixedClock(NOW)
    ledger = OpenMemoryLedger(clock)
    await ledger.allow("acme", Limits(per_day=50, per_member_day=50, in_total=80))
    await ledger.post([gift(50)])
    clock.set(NOW + timedelta(days=1))
    assert await fates(ledger, [added(30)]) == [P]
    assert await fates(ledger, [back("api:acme:g")]) == [P]
    assert (await ledger.allowance("acme"))[1:4] == (30, (NOW + timedelta(days=1)).date(), 30)
    assert await fates(ledger, [added(21, "b"), added(20, "c")]) == [MEMBER_DAY, P]


def test_an_allowance_never_falls_below_nothing() -> None:
    """Adjustments from before they were counted may be taken back."""
    assert Allowance(Limits(), 5, NOW.date(), 3).given_back(10, NOW.date())[1:4] == (0, NOW.date(), 0)


async def test_a_budget_is_exact_when_many_adjust_and_award_at_once(pool: Pool) -> None:
    ledger = OpenPostgresLedger(pool, SystemClock())
    await ledger.allow("acme", Limits(in_total=500))
    adjustments = [[added(10, f"a{number}", f"m{number % 7}")] for number in range(60)]
    awards = [[gift(10, f"g{number}", member_id=f"m{number % 7}")] for number in range(60)]
    batches: list[Orders] = [*adjustments, *awards]
    results = await asyncio.gather(*(fates(ledger, batch) for batch in batches))
    counted = Counter(fate for (fate,) in results)
    assert counted[Status.POSTED] == 50
    assert counted[BUDGET] + counted[Status.REJECTED] == 70
    assert (await ledger.allowance("acme")).used == 500
    assert await pool.fetchval("select sum(points) from transfer") == 500
    assert await pool.fetchval("select sum(used) from allowance_member") == 500
