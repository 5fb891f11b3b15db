"""What is held is redeemed once, for the basket that is paid; what ends gives back what it took."""

import asyncio
from collections import Counter
from uuid import UUID

import pytest

from abacus.core.errors import Absent, Refused
from abacus.engage.limits.types import Bound
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.reservation import Ended, Gain, GainChanged, LimitReached, reservation_id
from abacus.engage.offers.decide.settlement import Releasing, TooMuch
from abacus.platform.postgres import Pool
from tests.engage.offers.taken import (
    GAIN,
    MINUTES,
    NOW,
    Desk,
    desk,
    held,
    limited,
    redeeming,
    releasing,
    rolling_back,
    statuses,
    sums,
    used_of,
    wish,
)
from tests.support.fixed_clock import FixedClock

PIECE = GAIN.saves
MORE, LESS = GAIN._replace(saves=PIECE + 100), GAIN._replace(saves=PIECE - 100)
OFFER = limited(overall=Bound(runs=5, cost=2 * PIECE + 50))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def taking(pool: Pool, clock: FixedClock) -> Desk:
    return desk(pool, clock)


async def test_it_is_redeemed_once(taking: Desk, pool: Pool) -> None:
    """A repetition gets the first answer, and another basket is told that it was redeemed."""
    of = await held(taking, wish(offer=OFFER))
    first, *others = await asyncio.gather(*(taking.redemptions.settle(redeeming(of, OFFER)) for _ in range(4)))
    assert first.redemption is not None
    assert [each.redemption for each in others] == [first.redemption] * 3
    assert sorted(each.replayed for each in (first, *others)) == [False, True, True, True]
    with pytest.raises(Ended, match="redeemed"):
        await taking.redemptions.settle(redeeming(of, OFFER, items="[]"))
    with pytest.raises(Ended, match="redeemed"):
        await taking.redemptions.settle(releasing(of))
    assert await statuses(pool) == ["redeemed"]
    assert await used_of(pool) == {"": (1, PIECE)}
    assert await sums(pool) == {"reserved": (1, PIECE), "redeemed": (1, PIECE)}


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        (LESS, {"": (1, PIECE - 100)}),
        (MORE, {"": (1, PIECE + 100)}),
        (GAIN._replace(saves=2 * PIECE + 50), {"": (1, 2 * PIECE + 50)}),
        (GAIN._replace(saves=0), {"": (1, 0)}),
    ],
)
async def test_another_price_is_told_first(
    taking: Desk, pool: Pool, gain: Gain, expected: dict[str, tuple[int, int]]
) -> None:
    """It is redeemed when the caller names the gain that it now is."""
    of = await held(taking, wish(offer=OFFER))
    for accepted in (None, GAIN, gain._replace(saves=1)):
        with pytest.raises(GainChanged) as told:
            await taking.redemptions.settle(redeeming(of, OFFER, gain, accepted))
        assert (told.value.reserved, told.value.now) == (GAIN, gain)
    assert await used_of(pool) == {"": (1, PIECE)}
    settled = await taking.redemptions.settle(redeeming(of, OFFER, gain, gain))
    assert settled.redemption is not None
    assert settled.redemption.saves == gain.saves
    assert await used_of(pool) == expected
    assert await sums(pool) == {
        "reserved": (1, PIECE),
        "changed": (0, gain.saves - PIECE),
        "redeemed": (1, gain.saves),
    }


@pytest.mark.parametrize(
    "offer", [OFFER, limited(day=Bound(cost=2 * PIECE + 50)), limited(member=Bound(cost=2 * PIECE + 50))]
)
async def test_more_than_a_limit_leaves_is_refused_and_stays_held(taking: Desk, pool: Pool, offer: Offer) -> None:
    one, two = await held(taking, wish(1, offer=offer)), await held(taking, wish(2, offer=offer))
    with pytest.raises(LimitReached):
        await taking.redemptions.settle(redeeming(one, offer, MORE, MORE))
    await taking.redemptions.settle(redeeming(two, offer, LESS, LESS))
    await taking.redemptions.settle(redeeming(one, offer, MORE, MORE))
    assert await statuses(pool) == ["redeemed"] * 2


async def test_what_is_released_or_overdue_is_not_redeemed(taking: Desk, clock: FixedClock, pool: Pool) -> None:
    """Each gives back once, however often it is released."""
    one, two = await held(taking, wish(1, offer=OFFER)), await held(taking, wish(2, offer=OFFER))
    assert [(await taking.redemptions.settle(releasing(one))).replayed for _ in range(3)] == [False, True, True]
    assert await used_of(pool) == {"": (1, PIECE)}
    clock.set(NOW + MINUTES)
    for of, status in ((one, "released"), (two, "expired")):
        with pytest.raises(Ended, match=status):
            await taking.redemptions.settle(redeeming(of, OFFER))
    await taking.redemptions.settle(releasing(two))
    assert await taking.sweeper.sweep() == 0
    assert await statuses(pool) == ["released"] * 2
    assert await used_of(pool) == {"": (0, 0)}
    assert await sums(pool) == {"reserved": (2, 2 * PIECE), "released": (2, 2 * PIECE)}


async def test_nobody_settles_what_another_holds(taking: Desk) -> None:
    of = await held(taking, wish())
    for absent in (
        redeeming(of)._replace(caller="partner:other"),
        releasing(of)._replace(caller="partner:other"),
        Releasing(reservation_id("never", 0), of.caller),
        Releasing(UUID(int=(1 << 128) - 1), of.caller),
    ):
        with pytest.raises(Absent):
            await taking.redemptions.settle(absent)
    assert await taking.redemptions.reserved(of.reservation_id, of.caller) == of
    with pytest.raises(Absent):
        await taking.redemptions.reserved(of.reservation_id, "partner:other")


async def test_a_redemption_is_rolled_back_in_parts_and_whole(taking: Desk, pool: Pool) -> None:
    """Each part once a key. The money comes back at once, and the use with the rest."""
    offer = limited(overall=Bound(runs=1, cost=PIECE))
    of = await held(taking, wish(offer=offer))
    redemption = (await taking.redemptions.settle(redeeming(of, offer))).redemption
    assert redemption is not None
    with pytest.raises(TooMuch) as told:
        await taking.redemptions.roll_back(rolling_back(redemption, "a", PIECE + 1))
    assert told.value.left == PIECE
    backs = [
        (await taking.redemptions.roll_back(rolling_back(redemption, key, saves))).saves_back
        for key, saves in [("a", 1_000_000), ("a", 1_000_000), ("b", 200_000)]
    ]
    assert backs == [1_000_000, 1_000_000, 1_200_000]
    assert await used_of(pool) == {"": (1, PIECE - 1_200_000)}
    assert await statuses(pool) == ["redeemed"]
    whole = await asyncio.gather(*(taking.redemptions.roll_back(rolling_back(redemption, "c")) for _ in range(3)))
    assert {each.saves_back for each in whole} == {PIECE}
    assert await used_of(pool) == {"": (0, 0)}
    assert await statuses(pool) == ["rolled_back"]
    assert await sums(pool) == {"reserved": (1, PIECE), "redeemed": (1, PIECE), "rolled_back": (1, PIECE)}
    assert (await held(taking, wish(2, offer=offer))).status == "held"
    assert (await taking.redemptions.roll_back(rolling_back(redemption, "d"))).saves_back == PIECE
    assert await used_of(pool) == {"": (1, PIECE)}


async def test_limits_hold_while_32_callers_take_and_give_back(pool: Pool, clock: FixedClock) -> None:
    """Each caller holds, and then redeems, releases or rolls back, everything twice and by several processes."""
    offer = limited(overall=Bound(runs=12, cost=12 * PIECE), day=Bound(runs=12))
    processes = [desk(pool, clock, slot) for slot in (1, 2, 3)]
    seen = Counter[str]()
    most = 0

    async def caller(number: int) -> None:
        nonlocal most
        for turn in range(3):
            taking, other = processes[(number + turn) % 3], processes[turn % 3]
            try:
                of = await held(taking, wish(f"{number}-{turn}", f"m{number}", offer))
            except LimitReached:
                seen["refused"] += 1
                await asyncio.sleep(0.05)
                continue
            most = max(
                most, await pool.fetchval("select count(*) from offer_reservation where status in ('held', 'redeemed')")
            )
            action = releasing(of) if number % 3 else redeeming(of, offer)
            both = await asyncio.gather(
                taking.redemptions.settle(action), other.redemptions.settle(action), return_exceptions=True
            )
            assert not [each for each in both if isinstance(each, BaseException) and not isinstance(each, Refused)]
            seen["settled"] += 1
            if number % 3 == 0 and number % 2:
                redemption = next(each.redemption for each in both if not isinstance(each, BaseException))
                assert redemption is not None
                await asyncio.gather(
                    *(each.redemptions.roll_back(rolling_back(redemption, "r")) for each in (taking, other))
                )

    await asyncio.gather(*map(caller, range(32)))
    assert most <= 12
    assert seen["settled"] >= 12
    left = Counter(await statuses(pool))
    assert set((await used_of(pool)).values()) <= {(left["redeemed"], left["redeemed"] * PIECE)}
    added = await sums(pool)
    assert added["reserved"][0] == added["released"][0] + added["redeemed"][0] == sum(left.values())
    assert added.get("rolled_back", (0, 0))[0] == left["rolled_back"]
