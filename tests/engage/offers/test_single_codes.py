"""Single codes are loaded once, taken once, used once, and free again when what took them has ended."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from abacus.core.codes import spelled
from abacus.core.errors import Refused
from abacus.engage.offers.codes.loader import Loaded
from abacus.engage.offers.codes.pools import withdraw
from abacus.engage.offers.decide.offer import Offer, Stack, Stacking
from abacus.engage.offers.decide.single_code import CodeUnknown, CodeUsed
from abacus.engage.offers.reservation_rows import lock_reservation
from abacus.engage.offers.till import DoesNotFit
from abacus.engage.offers.till_wiring import offer_returns
from abacus.platform import slices
from abacus.platform.postgres import Pool
from tests.engage.offers.coded import CODED, TEA, Coded, coded, codes, counted, load, order, paying
from tests.engage.offers.taken import LUNCH, NOW, rolling_back, statuses
from tests.support.fixed_clock import FixedClock
from tests.support.waiting import waiting

CALLERS = 32
A, B, C, D, E = codes(5)


def _always(of: Offer, name: str | None = None, number: int | None = None) -> Offer:
    return replace(of, name=name or of.name, number=number or of.number, stack=Stack(Stacking.ALWAYS))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def by_code(pool: Pool, clock: FixedClock) -> Coded:
    return coded(pool, clock, CODED, TEA)


@pytest.mark.parametrize(
    ("loads", "at_once", "expected"),
    [
        ([[A, B, C]], 2, [Loaded(3, 0)]),
        ([[A, B], [A, B, C]], 100, [Loaded(2, 0), Loaded(1, 2)]),
        ([[A, B, A, A]], 3, [Loaded(2, 2)]),
    ],
)
async def test_a_code_is_loaded_once(
    pool: Pool, loads: Sequence[Sequence[str]], at_once: int, expected: Sequence[Loaded]
) -> None:
    assert [await load(pool, each, at_once=at_once) for each in loads] == expected
    assert await counted(pool) == (sum(each.new for each in expected), 0, 0, sum(each.new for each in expected))


async def test_a_code_is_used_once(pool: Pool, by_code: Coded) -> None:
    await load(pool, [A, B])
    (of,) = (await by_code.till.reserve(order(1, spelled(A).lower()))).reservations
    again = await by_code.till.reserve(order(1, spelled(A).lower()))
    assert (again.reservations, again.replayed) == ([of], True)
    with pytest.raises(CodeUsed):
        await by_code.till.reserve(order(2, A, member_id="ann"))
    assert await counted(pool) == (2, 0, 1, 1)
    redeemed = await by_code.till.redeem(paying(of))
    assert redeemed.redemption is not None
    assert (await by_code.till.redeem(paying(of))).replayed
    await by_code.sweeper.sweep()
    assert await counted(pool) == (2, 1, 0, 1)
    for key in (2, 3):  # the first one held nothing, and still does
        with pytest.raises(CodeUsed):
            await by_code.till.reserve(order(key, A, member_id="ann"))
    assert await statuses(pool) == ["redeemed", "refused"]


@pytest.mark.parametrize("end", ["released", "expired", "rolled_back"])
@pytest.mark.parametrize("swept", [True, False])
async def test_a_code_is_free_again_with_its_reservation(
    pool: Pool, clock: FixedClock, by_code: Coded, end: str, *, swept: bool
) -> None:
    await load(pool, [A])
    (of,) = (await by_code.till.reserve(order(1, A))).reservations
    match end:
        case "released":
            await by_code.till.release(of.reservation_id, of.caller)
        case "expired":
            clock.set(NOW + timedelta(minutes=11))
        case _:
            redemption = (await by_code.till.redeem(paying(of))).redemption
            assert redemption is not None
            await by_code.sweeper.sweep()
            await by_code.till.roll_back(redemption, "r", None)
    if swept:
        await by_code.taking.sweeper.sweep()
        await by_code.sweeper.sweep()
        assert await counted(pool) == (1, 0, 0, 1)
    (other,) = (await by_code.till.reserve(order(2, A, member_id="ann"))).reservations
    assert other.status == "held"
    assert await counted(pool) == (1, 0, 1, 0)
    assert await statuses(pool) == [end, "held"]


@pytest.mark.parametrize("paused", [False, True])
async def test_a_code_is_free_again_if_it_is_looked_at_amid_the_rollback(
    pool: Pool, clock: FixedClock, by_code: Coded, *, paused: bool
) -> None:
    """The process that rolled back dies, or pauses for long before it does."""
    await load(pool, [A])
    (of,) = (await by_code.till.reserve(order(1, A))).reservations
    redemption = (await by_code.till.redeem(paying(of))).redemption
    assert redemption is not None
    await by_code.sweeper.sweep()
    other = coded(pool, clock, CODED, slot=2)
    async with slices.at(pool, of.member_id) as connection, slices.in_place(connection):
        await lock_reservation(connection, of.key)
        under_way = asyncio.ensure_future(by_code.till.roll_back(redemption, "r", None))
        await waiting(pool, under_way)
        clock.set(NOW + timedelta(minutes=5 if paused else 0))
        await other.sweeper.sweep()
    await under_way
    clock.set(NOW + timedelta(minutes=6))
    await (by_code if paused else other).sweeper.sweep()
    assert await counted(pool) == (1, 0, 0, 1)


async def test_a_code_is_free_again_when_a_person_has_rolled_back(
    pool: Pool, clock: FixedClock, by_code: Coded
) -> None:
    await load(pool, [A])
    (of,) = (await by_code.till.reserve(order(1, A))).reservations
    redemption = (await by_code.till.redeem(paying(of))).redemption
    assert redemption is not None
    await by_code.sweeper.sweep()
    await offer_returns(pool, clock).roll_back(rolling_back(redemption, "r"), of.reservation_id)
    (other,) = (await by_code.till.reserve(order(2, A, member_id="ann"))).reservations
    assert other.status == "held"


async def test_a_part_that_is_rolled_back_leaves_the_code_used(pool: Pool, by_code: Coded) -> None:
    await load(pool, [A])
    (of,) = (await by_code.till.reserve(order(1, A))).reservations
    redemption = (await by_code.till.redeem(paying(of))).redemption
    assert redemption is not None
    await by_code.till.roll_back(redemption, "r", 1_000_000)
    await by_code.sweeper.sweep()
    assert await counted(pool) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("typed", "offers", "expected"),
    [
        ([], ["lunch_20"], DoesNotFit),
        ([D], ["lunch_20"], CodeUnknown),  # loaded for another offer, which is not in force
        ([E], ["lunch_20"], CodeUnknown),
        ([C], ["lunch_20"], DoesNotFit),  # of tea
        ([A[:-1]], ["lunch_20"], CodeUnknown),
        ([A, E], ["lunch_20"], CodeUnknown),
        ([B], ["lunch_20"], CodeUnknown),  # withdrawn
    ],
)
async def test_refused(
    pool: Pool, by_code: Coded, typed: Sequence[str], offers: Sequence[str], expected: type[Refused]
) -> None:
    for code, offer, batch in ((A, "lunch_20", "one"), (B, "lunch_20", "two"), (C, "tea", "one"), (D, "gone", "one")):
        await load(pool, [code], offer, batch)
    async with pool.acquire() as connection:
        assert await withdraw(connection, "lunch_20", "two", NOW)
        assert not await withdraw(connection, "lunch_20", "two", NOW)
    with pytest.raises(expected):
        await by_code.till.reserve(order(1, *typed, offers=offers))
    assert await statuses(pool) == []
    assert await counted(pool) == (2, 0, 0, 1)


async def test_several_take_a_code_each_or_nothing(pool: Pool, clock: FixedClock) -> None:
    offers = [_always(CODED), _always(TEA), _always(LUNCH, "plain", 3)]
    by_code = coded(pool, clock, *offers)
    await load(pool, [A])
    await load(pool, [B, C], "tea")
    names = [each.name for each in offers]
    held = await by_code.till.reserve(order(1, C, A, offers=names))
    assert [each.status for each in held.reservations] == ["held"] * 3
    with pytest.raises(CodeUsed):
        await by_code.till.reserve(order(2, B, A, offers=names, member_id="ann"))
    assert sorted(await statuses(pool)) == ["held"] * 3 + ["refused"] * 3
    await by_code.sweeper.sweep()
    assert await counted(pool, "tea") == (2, 0, 1, 1)


async def test_a_reservation_without_its_code_is_not_redeemed(pool: Pool, by_code: Coded) -> None:
    """Its process died before it took the code: the same request takes it."""
    await load(pool, [A])
    (of,) = (await by_code.till.reserve(order(1, A))).reservations
    await pool.execute("delete from offer_code_use")
    with pytest.raises(CodeUsed):
        await by_code.till.redeem(paying(of))
    assert (await by_code.till.reserve(order(1, A))).replayed
    assert (await by_code.till.redeem(paying(of))).redemption is not None


async def test_32_callers_take_the_same_codes(pool: Pool, clock: FixedClock) -> None:
    some = codes(20)
    await load(pool, some)
    tills = [coded(pool, clock, CODED, slot=slot).till for slot in (1, 2)]

    async def taken(caller: int) -> int:
        count = 0
        for place, code in enumerate(some):
            try:
                held = await tills[caller % 2].reserve(order(f"{caller}:{place}", code, member_id=f"m{caller}"))
                await tills[caller % 2].redeem(paying(held.reservations[0]))
                count += 1
            except CodeUsed:
                pass
        return count

    assert sum(await asyncio.gather(*map(taken, range(CALLERS)))) == len(some)
    assert await pool.fetchval("select count(*) from offer_redemption") == len(some)
