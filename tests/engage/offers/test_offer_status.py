"""What people have to look at of offers: what nobody lets go of, points that nobody hands over; and what is counted."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from abacus.core.errors import Unavailable, absent
from abacus.core.status import Cause
from abacus.engage.limits.types import Bound, Scope
from abacus.engage.offers.counted import OTHER, CountedSweeper, reason_of
from abacus.engage.offers.decide.reservation import Ended, LimitReached, ReservationStatus
from abacus.engage.offers.reservations import pots_of_offers
from abacus.engage.offers.status import OfferState, offer_state, told_of, unfit_offers
from abacus.platform.postgres import Pool
from tests.engage.offers.taken import MINUTES, NOW, desk, held, limited, redeeming, releasing, wish
from tests.support.fixed_clock import FixedClock
from tests.support.offers import LUNCH, document, run_offers

EMPTY = OfferState(3, 1, 0, None, None, 0, None)
A_WHILE_AGO, LONG_AGO = NOW - timedelta(seconds=30), NOW - timedelta(minutes=10)


@pytest.mark.parametrize(
    ("changes", "told", "fault"),
    [
        ({}, "3 in force, 1 spent, 0 unfit, 0 reservations wait, 0 awards wait", None),
        (
            {"held": 1200, "oldest_at": A_WHILE_AGO, "overdue_at": A_WHILE_AGO},
            (
                "3 in force, 1 spent, 0 unfit, 1,200 reservations wait, the oldest since 2026-03-02 03:59:30 UTC,"
                " 0 awards wait"
            ),
            None,
        ),
        (
            {"overdue_at": LONG_AGO, "awards": 7, "award_at": LONG_AGO},
            "3 in force, 1 spent, 0 unfit, 0 reservations wait, 7 awards wait",
            "reservations are over since 2026-03-02 03:50:00 UTC, and nobody lets them go",
        ),
        (
            {"awards": 7, "award_at": LONG_AGO},
            "3 in force, 1 spent, 0 unfit, 0 reservations wait, 7 awards wait",
            "7 awards of offers wait since 2026-03-02 03:50:00 UTC",
        ),
        (
            {"unfit": {"b_5": "when: no counter x", "a_5": "when: no counter y"}},
            "3 in force, 1 spent, 2 unfit, 0 reservations wait, 0 awards wait",
            "nobody gets offers whose rules do not fit what is published: a_5 (when: no counter y), and 1 more",
        ),
        (
            {"awards": 7, "award_at": A_WHILE_AGO},
            "3 in force, 1 spent, 0 unfit, 0 reservations wait, 7 awards wait",
            None,
        ),
    ],
)
def test_the_worst_is_told(changes: dict[str, Any], told: str, fault: str | None) -> None:
    line = told_of(EMPTY._replace(**changes), NOW)
    assert (line.kind, line.told, line.problem and line.problem.fault) == ("offers", told, fault)
    assert line.problem is None or line.problem.cause is Cause.NEEDS_SOMEBODY


async def test_what_waits_is_seen_in_each_slice(pool: Pool) -> None:
    await run_offers(pool, LUNCH)
    taking, offer = desk(pool, FixedClock(NOW)), limited(overall=Bound(runs=50))
    some = [await held(taking, wish(number, f"m{number}", offer)) for number in range(4)]
    await taking.redemptions.settle(releasing(some[0]))
    await taking.redemptions.settle(redeeming(some[1], offer))
    assert await offer_state(pool, NOW) == OfferState(0, 0, 2, NOW, None, 0, None)
    later = await offer_state(pool, NOW + MINUTES)
    assert (later.held, later.overdue_at) == (2, NOW + MINUTES)
    in_a_year = datetime.now(NOW.tzinfo) + timedelta(days=365)
    assert (await offer_state(pool, in_a_year)).in_force == 1
    await pool.execute("insert into offer_spent values ('lunch_20', '')")
    assert (await offer_state(pool, in_a_year)).spent == 1


async def test_offers_whose_rules_fit_no_more_are_told_with_the_fault(pool: Pool) -> None:
    few = {"operator": "lt", "lhs": "counter.rides(7d)", "rhs": 5}
    gold = {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}
    await run_offers(
        pool, LUNCH, *(document(name=f"few_{each}", when=few) for each in "ab"), document(name="gold", when=gold)
    )
    now = datetime.now(NOW.tzinfo)
    unfit = await unfit_offers(pool, now)
    fault = "when.lhs: no counter 'rides' is defined; `abacus counters list` prints what there is"
    assert unfit == dict.fromkeys(("few_a", "few_b"), fault)
    assert await unfit_offers(pool, now + timedelta(days=20_000)) == {}


async def test_what_the_sweeper_lets_go_is_counted(pool: Pool) -> None:
    taking = desk(pool, FixedClock(NOW))
    for number in range(3):
        await held(taking, wish(number, at=NOW - MINUTES))
    sweeper = CountedSweeper(pool, FixedClock(NOW), pots_of_offers(pool, 1), slot=1)
    before = REGISTRY.get_sample_value("abacus_offers_taken_total", {"outcome": "expired"}) or 0
    assert [await sweeper.sweep(), await sweeper.sweep()] == [3, 0]
    assert REGISTRY.get_sample_value("abacus_offers_taken_total", {"outcome": "expired"}) == before + 3


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (absent("offer in force", "lunch"), "absent"),
        (LimitReached("lunch", Scope.DAY, "runs"), "limit"),
        (Ended(ReservationStatus.EXPIRED), "ended"),
        (Unavailable("database", "away"), "unavailable"),
        (ValueError(), OTHER),
    ],
)
def test_a_refusal_has_its_reason(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason
