"""What a report says of rewards: redeemed on one day, and come back on another."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from abacus.engage.offers.decide.offer import Payer
from abacus.engage.rewards.decide.report import By, Counted, lines_of
from abacus.engage.rewards.report import counted
from abacus.platform.postgres import Pool, snapshot
from tests.support.rewards import CARDS, DAY, NOW, Counter, give_points, load_codes, reward

FIRST, SECOND = date(2026, 3, 2), date(2026, 3, 3)
PAYERS = {("coffee", 1): Payer("cost_centre", "cafe"), ("film", 1): Payer("partner", "cinema")}
COUNTED = [
    Counted("coffee", 1, "GRP", "SG", FIRST, 2, 3, 0, 0, 1_500, Decimal("2.5")),
    Counted("coffee", 1, "GRP", "SG", SECOND, 0, 0, 1, 0, -500, Decimal("-1.25")),
    Counted("film", 1, "GRP", "VN", FIRST, 1, 1, 0, 0, 900, Decimal(0)),
]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (
            By.DAY,
            [
                (FIRST, "SGD", 2, 0, 1_500, "2.50"),
                (FIRST, "VND", 1, 0, 900, "0"),
                (SECOND, "SGD", 0, 1, -500, "-1.25"),
            ],
        ),
        (By.REWARD, [("coffee", "SGD", 2, 1, 1_000, "1.25"), ("film", "VND", 1, 0, 900, "0")]),
        (By.COST_CENTRE, [("-", "VND", 1, 0, 900, "0"), ("cafe", "SGD", 2, 1, 1_000, "1.25")]),
        (By.PARTNER, [("-", "SGD", 2, 1, 1_000, "1.25"), ("cinema", "VND", 1, 0, 900, "0")]),
    ],
)
def test_lines(by: By, expected: Sequence[tuple[object, ...]]) -> None:
    named = by.value.replace("-", "_")
    lines = lines_of(COUNTED, PAYERS, {"SG": "SGD", "VN": "VND"}, by)
    told = [
        (getattr(each, named), each.currency, each.redeemed, each.cancelled, each.points, str(each.money))
        for each in lines
    ]
    assert told == expected


async def test_it_is_counted_when_its_points_are_paid_and_when_they_come_back(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1_600)
    await load_codes(pool, ["A", "B", "C"])
    at = Counter(pool, [reward()])
    first, _ = await at.redeem("1"), await at.redeem("2", quantity=2)
    await at.desk.bring_back(first)
    async with snapshot(pool) as connection:
        zones = {country: card.card.zone for country, card in CARDS.items()}
        (found,) = await counted(connection, zones, (NOW - DAY).date(), (NOW + DAY).date())
        assert await counted(connection, zones, (NOW + 3 * DAY).date(), (NOW + 9 * DAY).date(), "coffee") == []
    assert found[:4] == ("coffee", 1, "GRP", "SG")
    assert found[5:] == (2, 3, 0, 1, 1_000, Decimal(0))
