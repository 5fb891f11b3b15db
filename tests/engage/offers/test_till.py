"""What is held is what was shown, what is redeemed is what is told, and points come and go with the redemption."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

import pytest

from abacus.core.errors import Absent
from abacus.engage.actions.action_store import ActionStore
from abacus.engage.limits.types import Bound, Limits
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Benefit, BenefitKind, Gate, Offer, Stack, Stacking
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reservation import GainChanged, LimitReached, OtherFacts
from abacus.engage.offers.decide.together import NotTogether
from abacus.engage.offers.qualifier import Qualifier
from abacus.engage.offers.till import DoesNotFit, Order, Paying, Till
from abacus.intake.earning.decide.calculate import Calculator
from abacus.ledger.types.award_envelope import decode_envelope
from abacus.ledger.types.reversal_message import decode_reversal
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Offered
from abacus.signals.facts.types import FactRegistry
from tests.engage.offers.taken import CARD, LUNCH, NOW, desk, lunch
from tests.engage.offers.tilled import Strangers, basket, item
from tests.support.cards import lunch as bought
from tests.support.fixed_clock import FixedClock

ALWAYS: Final = Stack(Stacking.ALWAYS)
BONUS: Final = lunch(name="bonus", number=2, benefit=Benefit(BenefitKind.POINTS_PLUS, Decimal(50)), stack=ALWAYS)
TRIPLE: Final = lunch(name="triple", number=3, benefit=Benefit(BenefitKind.POINTS_TIMES, Decimal(3)), stack=ALWAYS)
DEAR: Final = lunch(name="dear", number=4, price=Gate(Decimal(100)), stack=ALWAYS)
HALF: Final = lunch(name="half", number=5, benefit=Benefit(BenefitKind.PERCENT, Decimal(50)), stack=ALWAYS)
MOST: Final = lunch(name="most", number=6, benefit=Benefit(BenefitKind.PERCENT, Decimal(80)), stack=ALWAYS)
ONCE: Final = lunch(name="once", number=7, limits=Limits(member=Bound(runs=1)))


def order(key: str, *offers: Offer, items: Sequence[Item] = (item(),)) -> Order:
    names = [each.name for each in offers]
    facts = json.dumps([names, basket(*items)])
    return Order("partner:shop", f"api:shop:{key}", facts, "bob", names, [], basket(*items), lambda _: items)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def index() -> OfferIndex:
    index = OfferIndex()
    for each in (LUNCH, BONUS, TRIPLE, DEAR, HALF, MOST, ONCE):
        index.put(each, None)
    return index


@pytest.fixture
def till(pool: Pool, clock: FixedClock, index: OfferIndex) -> Till:
    offers = {each.name: each for each in (LUNCH, BONUS, TRIPLE, DEAR, HALF, MOST)}

    async def offer_of(name: str, _: int) -> Offer:
        return offers[name]

    book = CardBook([CARD])
    qualifier = Qualifier(
        lambda: index, lambda: book, members=Strangers(), segments=dict, facts=FactRegistry(), clock=clock
    )
    taking = desk(pool, clock)
    return Till(qualifier, taking.reservations, taking.redemptions, taking.codes, offer_of=offer_of, clock=clock)


async def test_what_is_held_is_what_it_saves_now(till: Till) -> None:
    held = await till.reserve(order("1", LUNCH))
    (of,) = held.reservations
    assert (of.saves, of.currency, of.status, of.until) == (4_200_000, "SGD", "held", NOW + timedelta(minutes=10))
    assert await till.reserved(of.reservation_id, "partner:shop") == of
    with pytest.raises(DoesNotFit, match="dear does not fit"):
        await till.reserve(order("2", DEAR))
    with pytest.raises(Absent, match="nothing"):
        await till.reserve(order("3", replace(LUNCH, name="nothing")))


async def test_a_members_limit_is_counted_as_it_is_taken_and_not_by_what_is_remembered(till: Till) -> None:
    assert [each.status for each in (await till.reserve(order("1", ONCE))).reservations] == ["held"]
    with pytest.raises(LimitReached):
        await till.reserve(order("2", ONCE))


async def test_a_repetition_gets_the_first_answer_also_when_the_offer_has_ended(till: Till, index: OfferIndex) -> None:
    first = await till.reserve(order("1", LUNCH))
    index.remove(LUNCH.number)
    again = await till.reserve(order("1", LUNCH))
    assert (again.reservations, again.replayed) == (first.reservations, True)
    with pytest.raises(OtherFacts):
        await till.reserve(order("1", LUNCH, items=[item(2000)]))
    with pytest.raises(Absent):
        await till.reserve(order("2", LUNCH))


@pytest.mark.parametrize(
    ("offers", "items", "expected"),
    [
        ([HALF, BONUS], [item(2000)], [(10_000_000, 0), (0, 50)]),
        ([HALF, MOST], [item(2000)], [(10_000_000, 0), (10_000_000, 0)]),  # never more than the line
        ([HALF, HALF], [item(2000), item(1000, "2")], [(10_000_000, 0), (5_000_000, 0)]),
        ([HALF, MOST, HALF], [item(2000), item(1000, "2")], [(10_000_000, 0), (10_000_000, 0), (5_000_000, 0)]),
    ],
)
async def test_several_count_once_a_line_and_never_save_more_than_it(
    till: Till, offers: Sequence[Offer], items: Sequence[Item], expected: Sequence[tuple[int, int]]
) -> None:
    held = await till.reserve(order("1", *offers, items=items))
    assert [(each.saves, each.points) for each in held.reservations] == expected


@pytest.mark.parametrize(("offers", "named"), [([LUNCH, BONUS], "lunch_20"), ([HALF, HALF], "half")])
async def test_what_does_not_stand_together_is_not_held(till: Till, offers: Sequence[Offer], named: str) -> None:
    with pytest.raises(NotTogether, match=named):
        await till.reserve(order("1", *offers))


def paying(of: Any, *items: Item, **accepted: int) -> Paying:
    return Paying(of.reservation_id, "partner:shop", basket(*items), lambda _: items, **accepted)


async def test_another_basket_is_looked_at_again(till: Till, clock: FixedClock, index: OfferIndex) -> None:
    """By the version that was reserved, also when it has ended meanwhile."""
    (of,) = (await till.reserve(order("1", LUNCH))).reservations
    index.remove(LUNCH.number)
    clock.set(NOW + timedelta(minutes=5))
    with pytest.raises(GainChanged) as told:
        await till.redeem(paying(of, item(3000)))
    assert (told.value.reserved.saves, told.value.now.saves) == (4_200_000, 6_000_000)
    settled = await till.redeem(paying(of, item(3000), saves=6_000_000))
    assert settled.redemption is not None
    assert (settled.redemption.saves, settled.replayed) == (6_000_000, False)
    assert (await till.redeem(paying(of, item(3000)))).replayed


@pytest.mark.parametrize(("offer", "points", "earned"), [(BONUS, 50, None), (TRIPLE, 168, 84)])
async def test_points_are_awarded_once_and_can_be_computed_again(
    till: Till, pool: Pool, offer: Offer, points: int, earned: int | None
) -> None:
    (of,) = (await till.reserve(order("1", offer))).reservations
    assert (of.saves, of.points) == (0, points)
    settled = await till.redeem(paying(of, item()))
    assert (await till.redeem(paying(of, item()))).replayed
    rows = await pool.fetch("select key, owner_kind, document from action")
    ((key, kind, document),) = map(tuple, rows)
    (award,) = decode_envelope(b'{"v":1,"awards":[%b]}' % document).awards
    redemption = settled.redemption
    assert redemption is not None
    assert (award.key, award.points, award.source) == (
        f"redemption:{redemption.redemption_id}",
        points,
        f"offer:{offer.name}",
    )
    assert (key, kind, redemption.points) == (award.key, "offer", points)
    why = read(award.explanation)
    assert isinstance(why, Offered)
    assert (why.offer, why.redemption, why.earned) == (offer.label, str(redemption.redemption_id), earned)


@pytest.mark.parametrize("price", [2100, 1999, 130])
async def test_a_transaction_earns_the_points_by_which_the_offer_was_reckoned(
    till: Till, pool: Pool, price: int
) -> None:
    """So both together are what the question promised: three times the points of what is paid."""
    (of,) = (await till.reserve(order("1", TRIPLE, items=[item(price)]))).reservations
    redemption = (await till.redeem(paying(of, item(price)))).redemption
    assert redemption is not None
    amount = f"{Decimal(price).scaleb(-2)}"
    paid = bought(amount=amount, occurred_at=NOW.isoformat(), redemption_id=str(redemption.redemption_id))
    award = Calculator(CardBook([CARD])).award(paid, CARD, "member")
    assert award is not None
    document = await pool.fetchval("select document from action")
    (given,) = decode_envelope(b'{"v":1,"awards":[%b]}' % document).awards
    assert (given.points, redemption.points) == (2 * award.points, 2 * award.points)


async def test_points_are_taken_back_with_the_redemption(till: Till, pool: Pool, clock: FixedClock) -> None:
    """An award that waits is never made; one that was sent is taken back a minute later."""
    taken = {}
    for key in ("waits", "sent"):
        (of,) = (await till.reserve(order(key, BONUS))).reservations
        redemption = (await till.redeem(paying(of, item()))).redemption
        assert redemption is not None
        if key == "sent":
            store = ActionStore(pool, clock)
            async with store.taken(await slices.slice_of(pool, "bob"), "awards", 10) as batch:
                await store.end(batch, batch.actions, {})
        for _ in range(2):
            taken[key] = await till.roll_back(redemption, "r", None)
    assert [each.points_back for each in taken.values()] == [50, 50]
    rows = await pool.fetch("select number, due_at, refused_at, reason, document from action order by key, number")
    dropped = [row for row in rows if row["refused_at"] is not None]
    (back,) = [row for row in rows if row["number"]]
    assert [row["reason"] for row in dropped] == ["rolled back"]
    assert back["due_at"] == NOW + timedelta(minutes=1)
    reversal = decode_reversal(back["document"])
    assert reversal.reverses == f"redemption:{taken['sent'].redemption_id}"
    assert (reversal.part, reversal.source) == (None, "offer:bonus")
