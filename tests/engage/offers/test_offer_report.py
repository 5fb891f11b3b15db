"""What a report says of offers: by day, offer and payer; and how often they were shown, by a sample."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from abacus.engage.offers.decide.ask import Answer, Ask, ItemAnswer, Reading, Shown
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.report import By, Counted, Terms, lines_of
from abacus.engage.offers.report import counted, terms_of
from abacus.engage.offers.shown import ONE_IN, ShownOffers
from abacus.platform.postgres import Pool, snapshot
from tests.engage.offers.taken import CARD, GAIN, LUNCH, NOW, desk, held, redeeming, releasing, rolling_back, wish
from tests.support import offers
from tests.support.fixed_clock import FixedClock

FIRST, SECOND = date(2026, 3, 2), date(2026, 3, 3)
TERMS = {
    ("lunch", 1): Terms("SG", "SGD", Payer("cost_centre", "marketing")),
    ("lunch", 2): Terms("SG", "SGD", Payer("cost_centre", "food")),
    ("rides", 1): Terms("VN", "VND", Payer("partner", "taxi")),
}
COUNTED = [
    Counted("lunch", 1, FIRST, 64, 3, 2, 1, 0, 8_400_000, 0),
    Counted("lunch", 2, SECOND, 0, 1, 1, 0, 1, -4_200_000, 0),
    Counted("rides", 1, FIRST, 128, 2, 2, 0, 0, 30_000_000_000, 50),
]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (By.DAY, [(FIRST, "SGD", 64, 2, "8.40"), (FIRST, "VND", 128, 2, "30000"), (SECOND, "SGD", 0, 1, "-4.20")]),
        (By.OFFER, [("lunch", "SGD", 64, 3, "4.20"), ("rides", "VND", 128, 2, "30000")]),
        (
            By.COST_CENTRE,
            [("-", "VND", 128, 2, "30000"), ("food", "SGD", 0, 1, "-4.20"), ("marketing", "SGD", 64, 2, "8.40")],
        ),
        (By.PARTNER, [("-", "SGD", 64, 3, "4.20"), ("taxi", "VND", 128, 2, "30000")]),
    ],
)
def test_lines(by: By, expected: Sequence[tuple[object, ...]]) -> None:
    """Currencies are never added up."""
    named = by.value.replace("-", "_")
    lines = lines_of(COUNTED, TERMS, by)
    told = [(getattr(each, named), each.currency, each.shown, each.redeemed, str(each.money)) for each in lines]
    assert told == expected


async def test_each_thing_stands_on_the_day_on_which_it_happened(pool: Pool) -> None:
    """What was rolled back two days later changes nothing of the days before."""
    clock = FixedClock(NOW)
    taking = desk(pool, clock)
    await offers.run_offers(pool, offers.document())
    first, second = await held(taking, wish(1)), await held(taking, wish(2, "eve"))
    await taking.redemptions.settle(releasing(await held(taking, wish(3, "joe"))))
    redeemed = [(await taking.redemptions.settle(redeeming(each))).redemption for each in (first, second)]
    clock.set(NOW + timedelta(hours=13))  # the next day in Singapore
    assert redeemed[0] is not None
    await taking.redemptions.roll_back(rolling_back(redeemed[0], "part", GAIN.saves // 4))
    clock.set(NOW + timedelta(days=2))
    await taking.redemptions.roll_back(rolling_back(redeemed[0], "rest"))
    async with snapshot(pool) as connection:
        found = await counted(connection, FIRST, FIRST + timedelta(days=9))
        two_days = await counted(connection, FIRST, SECOND, LUNCH.name)
        terms = await terms_of(connection, [(LUNCH.name, 1)])
    figures = [(each.day, *each[4:9]) for each in found]
    part = GAIN.saves // 4
    assert figures == [
        (FIRST, 3, 2, 1, 0, 2 * GAIN.saves),
        (SECOND, 0, 0, 0, 0, -part),
        (FIRST + timedelta(days=2), 0, 0, 0, 1, part - GAIN.saves),
    ]
    assert two_days == found[:2]
    assert terms == {(LUNCH.name, 1): Terms("SG", "SGD", Payer("cost_centre", "marketing"))}


def answer(*names: Sequence[str]) -> tuple[Ask, Answer]:
    """An answer that has these offers for each of its items."""
    item = Item("1", "pizza", "mario", "", ("food",), 2_100, "SGD")
    shown = [[Shown(replace(offers.offer(name=name), version=1), 420, 1_680, None) for name in some] for some in names]
    items = [ItemAnswer(item, some[0] if some else None, some[1:]) for some in shown]
    return Ask(CARD, [item] * len(items)), Answer(items, Reading(is_degraded=False))


async def test_one_answer_of_many_is_looked_at(pool: Pool) -> None:
    """Each offer of it counts once, for all of these answers, and none is written twice."""
    draws = iter([2, 1, 5])
    counting = ShownOffers(pool, FixedClock(NOW), slot=1, draw=lambda: next(draws))
    for asked in (answer(["a"]), answer(["a", "b"], ["b"], []), answer(["b"]), answer(["a"])):
        counting.note(*asked)
    for _ in range(2):
        await counting.write()
    async with snapshot(pool) as connection:
        found = await counted(connection, FIRST, FIRST)
    assert Counter({each.offer: each.shown for each in found}) == {"a": ONE_IN, "b": 2 * ONE_IN}


def test_money_has_the_decimals_of_its_currency() -> None:
    (line,) = lines_of([COUNTED[0]._replace(money=1_000)], TERMS, By.OFFER)
    assert line.money == Decimal("0.00")
