"""Offers are held once a key and never beyond a limit, whoever asks at the same time."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from abacus.engage.limits.types import Bound
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.reservation import LimitReached, OtherFacts, Wish
from abacus.engage.offers.reservations import Held
from abacus.platform.postgres import Pool
from tests.engage.offers.taken import (
    GAIN,
    LUNCH,
    MINUTES,
    NOW,
    Desk,
    desk,
    limited,
    lunch,
    statuses,
    sums,
    used_of,
    wish,
)
from tests.support.fixed_clock import FixedClock
from tests.support.slices import neighbour

DAY = timedelta(days=1)
PIECE = GAIN.saves


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


async def outcome(taking: Desk, *wishes: Wish) -> str:
    """`h` for held, `a` for held since before, or the limit that stands against it."""
    try:
        held = await taking.reservations.reserve(wishes)
    except LimitReached as refusal:
        return f"{refusal.scope}.{refusal.what}"
    except OtherFacts:
        return "other facts"
    return "a" if held.replayed else "h"


@pytest.mark.parametrize(
    ("offer", "expected"),
    [
        (limited(), "hhhhhh"),
        (limited(overall=Bound(runs=3)), "hhh..."),
        (limited(overall=Bound(cost=4 * PIECE)), "hhhh.."),
        (limited(overall=Bound(cost=4 * PIECE - 1)), "hhh..."),
        (limited(day=Bound(runs=2)), "hh.hh."),
        (limited(day=Bound(cost=PIECE)), "h..h.."),
        (limited(member=Bound(runs=1)), "hhh..."),
        (limited(member_day=Bound(runs=1)), "hhhhhh"),
        (limited(member=Bound(cost=2 * PIECE), member_day=Bound(cost=PIECE)), "hhhhhh"),
        (limited(overall=Bound(runs=5), day=Bound(runs=2), member=Bound(runs=1)), "hh...h"),
    ],
)
@pytest.mark.parametrize("together", [True, False])
async def test_limits_hold(pool: Pool, clock: FixedClock, offer: Offer, expected: str, *, together: bool) -> None:
    """Three members, one use each on two days: in one round, or one after the other."""
    taking = desk(pool, clock)
    wishes = [wish(number, neighbour(f"m{number % 3}"), offer, NOW + (number // 3) * DAY) for number in range(6)]
    if together:
        outcomes = await asyncio.gather(*(outcome(taking, each) for each in wishes))
    else:
        outcomes = [await outcome(taking, each) for each in wishes]
    assert "".join("h" if each == "h" else "." for each in outcomes) == expected
    held = expected.count("h")
    assert (await sums(pool)).get("reserved", (0, 0)) == (held, held * PIECE)


async def test_a_refusal_names_its_limit_and_leaves_nothing(pool: Pool, clock: FixedClock) -> None:
    taking, offer = desk(pool, clock), limited(overall=Bound(runs=1), member=Bound(cost=PIECE))
    assert await outcome(taking, wish(1, offer=offer)) == "h"
    assert await outcome(taking, wish(2, offer=offer)) == "member.cost"
    assert await outcome(taking, wish(3, "ann", offer)) == "overall.runs"
    assert await statuses(pool) == ["held"]
    assert await used_of(pool) == {"": (1, PIECE)}


async def test_a_key_holds_once_and_its_first_answer_is_given_again(pool: Pool, clock: FixedClock) -> None:
    taking, offer = desk(pool, clock), limited(overall=Bound(runs=5))
    first: Held = await taking.reservations.reserve([wish(1, offer=offer)])
    again = await taking.reservations.reserve([wish(1, offer=offer, at=NOW + DAY)])
    assert (first.replayed, again.replayed) == (False, True)
    assert again.reservations[0] == first.reservations[0]
    in_one_round = await asyncio.gather(*(outcome(taking, wish(2, offer=offer)) for _ in range(3)))
    assert sorted(in_one_round) == ["a", "a", "h"]
    assert await outcome(taking, wish(1, "ann", offer)) == "other facts"
    assert await outcome(taking, wish(1, offer=offer, gain=GAIN._replace(saves=1))) == "other facts"
    assert sorted(
        await asyncio.gather(outcome(taking, wish(3, offer=offer)), outcome(taking, wish(3, "ann", offer)))
    ) == ["h", "other facts"]
    assert await used_of(pool) == {"": (3, 3 * PIECE)}


async def test_several_are_held_together_or_none_is(pool: Pool, clock: FixedClock) -> None:
    """What one of them takes counts for the next."""
    taking, tea = desk(pool, clock), lunch(name="tea", limits=limited(overall=Bound(runs=1)).limits)
    both = [wish("a:0"), wish("a:1", offer=tea)]
    assert await outcome(taking, *both) == "h"
    assert await outcome(taking, wish("b:0"), wish("b:1", offer=tea)) == "overall.runs"
    assert await outcome(taking, *both) == "a"
    assert await outcome(taking, wish("a:0")) == "a"
    twice = limited(member=Bound(runs=1))
    assert await outcome(taking, wish("c:0", "ann", twice), wish("c:1", "ann", twice)) == "member.runs"
    assert await outcome(taking, wish("d:0", "ann", twice)) == "h"
    assert await statuses(pool) == ["held"] * 3
    assert await used_of(pool, tea) == {"": (1, PIECE)}


@pytest.mark.parametrize(
    ("offer", "expected"),
    [
        (limited(overall=Bound(runs=40)), 40),
        (limited(overall=Bound(cost=33 * PIECE + 1), day=Bound(runs=60)), 33),
        (limited(member=Bound(runs=2)), 16),
        (limited(overall=Bound(runs=1000)), 96),
    ],
)
async def test_not_one_too_many_by_32_callers_of_several_processes(
    pool: Pool, clock: FixedClock, offer: Offer, expected: int
) -> None:
    """Each caller sends each request twice, to two processes."""
    processes = [desk(pool, clock, slot) for slot in (1, 2, 2, 3)]

    async def caller(number: int) -> list[str]:
        outcomes = []
        for turn in range(3):
            one = wish(f"{number}-{turn}", f"m{number % 8}", offer)
            taking = [processes[(number + turn + further) % 4] for further in range(2)]
            outcomes.append("".join(sorted(await asyncio.gather(*(outcome(each, one) for each in taking)))))
        return outcomes

    outcomes = Counter(each for told in await asyncio.gather(*map(caller, range(32))) for each in told)
    assert outcomes["ah"] == expected
    assert set(outcomes) <= {"ah", "overall.runsoverall.runs", "overall.costoverall.cost", "member.runsmember.runs"}
    assert await statuses(pool) == ["held"] * expected
    assert set((await used_of(pool)).values()) <= {(expected, expected * PIECE)}
    assert await sums(pool) == {"reserved": (expected, expected * PIECE)}


@pytest.mark.parametrize(
    "bounds", [{"overall": Bound(runs=2)}, {"day": Bound(cost=2 * PIECE)}, {"member": Bound(runs=2)}]
)
async def test_what_is_overdue_is_there_again_at_once(pool: Pool, clock: FixedClock, bounds: Any) -> None:
    """For another process as well, and before anybody swept."""
    taking, other, offer = desk(pool, clock), desk(pool, clock, slot=2), limited(**bounds)
    assert [await outcome(taking, wish(number, offer=offer)) for number in range(2)] == ["h", "h"]
    assert len(await outcome(other, wish(2, offer=offer))) > 1
    clock.set(NOW + MINUTES)
    await asyncio.sleep(0.25)  # as long as a limit is remembered
    outcomes: Sequence[str] = [await outcome(other, wish(number, offer=offer, at=clock.now())) for number in (3, 4, 5)]
    assert [each for each in outcomes if each == "h"] == ["h", "h"]
    assert await sums(pool) | {"expired": (2, 2 * PIECE)} == {"expired": (2, 2 * PIECE), "reserved": (4, 4 * PIECE)}


async def test_the_sweeper_lets_go_of_each_once(pool: Pool, clock: FixedClock) -> None:
    taking, offer = desk(pool, clock), limited(overall=Bound(runs=50))
    for number in range(4):
        assert await outcome(taking, wish(number, f"m{number}", offer, NOW - number * MINUTES / 2)) == "h"
    sweepers = [desk(pool, clock, slot).sweeper for slot in (1, 2, 3)]
    assert sum(await asyncio.gather(*(each.sweep() for each in sweepers))) == 2
    assert await taking.sweeper.sweep() == 0
    assert sorted(await statuses(pool)) == ["expired", "expired", "held", "held"]
    assert await used_of(pool) == {"": (2, 2 * PIECE)}
    assert (await sums(pool))["expired"] == (2, 2 * PIECE)


async def test_what_was_taken_without_a_limit_counts_when_there_is_one(pool: Pool, clock: FixedClock) -> None:
    """What was let go does not."""
    taking = desk(pool, clock)
    for number in range(4):
        await outcome(taking, wish(number, f"m{number}", LUNCH, NOW - (number // 3) * MINUTES))
    assert await taking.sweeper.sweep() == 1
    later = lunch(version=2, limits=limited(overall=Bound(runs=4)).limits)
    assert [await outcome(taking, wish(number, "ann", later)) for number in (5, 6)] == ["h", "overall.runs"]
