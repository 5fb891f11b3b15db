"""What offers gave and rewards cost in a month, by who pays."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from abacus.cli.examples import example_cards
from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.report import Counted, Terms
from abacus.engage.rewards.decide.report import Counted as RewardCounted
from abacus.oversight.reports.benefits import benefits
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate
from abacus.oversight.reports.decide.benefits import Tender, benefit_rows, offers_given, rewards_burnt
from abacus.oversight.reports.homes import homes
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from tests.engage.offers.taken import GAIN, desk, held, redeeming, rolling_back, wish
from tests.support.cards import SINGAPORE
from tests.support.fixed_clock import FixedClock
from tests.support.logged import card_logged
from tests.support.offers import document, run_offers
from tests.support.rewards import CARDS, NOW, Counter, give_points, load_codes, reward, run_reward

JUNE = Month(2026, 6)
DAY = date(2026, 6, 7)
MARKETING, TAXI, NOBODY = Payer("cost_centre", "marketing"), Payer("partner", "taxi"), Payer("cost_centre", "-")
TENDERS = {"SG": Tender("GRP", "SGD"), "ID": Tender("OVO", "IDR")}
TERMS = {
    ("lunch", 1): Terms("SG", "SGD", MARKETING),
    ("double", 3): Terms("SG", "SGD", MARKETING),
    ("rides", 1): Terms("ID", "IDR", TAXI),
    ("quiet", 1): Terms("SG", "SGD", Payer("cost_centre", "quiet")),
}
OFFERS = [
    Counted("lunch", 1, DAY, 640, 9, 5, 1, 1, 12_500_000, 0),
    Counted("double", 3, DAY, 0, 2, 2, 0, 0, 0, 300),
    Counted("rides", 1, DAY, 0, 1, 1, 0, 0, 10_000_000_000, 0),
    Counted("quiet", 1, DAY, 64, 1, 0, 1, 0, 0, 0),  # nobody redeemed it
]
PAYERS = {("coffee", 1): MARKETING, ("film", 2): NOBODY}
REWARDS = [
    RewardCounted("coffee", 1, "GRP", "SG", DAY, 3, 4, 1, 0, 1_000, Decimal("2.50")),
    RewardCounted("film", 2, "OVO", "ID", DAY, 1, 1, 0, 1, 700, Decimal(0)),
]


def rows(*costs: tuple[str, str, str]) -> Sequence[tuple[object, ...]]:
    book = AssumptionBook(
        Assumption(
            program,
            country,
            1,
            date(2026, 1, 1),
            Estimate("SGD", Decimal("0.97"), cost_per_point=Decimal(cost)),
            datetime(2026, 1, 1, tzinfo=UTC),
            "jane",
            "a study",
        )
        for program, country, cost in costs
    )
    parts = [*offers_given(OFFERS, TERMS, TENDERS), *rewards_burnt(REWARDS, PAYERS, TENDERS)]
    return [tuple(map(str, row)) for row in benefit_rows(parts, book, JUNE, decimals=2)]


def test_by_who_pays() -> None:
    """Money of the card, and the value of points in the money of the assumption; without one, none."""
    found = rows(("GRP", "SG", "0.008"))
    assert [row[:14] for row in found] == [
        ("offers", "GRP", "SG", "marketing", "-", "7", "1", "SGD", "12.50", "0.00", "300", "0", "2.40", "SGD"),
        ("offers", "OVO", "ID", "-", "taxi", "1", "0", "IDR", "10000.00", "0.00", "0", "0", "None", "None"),
        ("rewards", "GRP", "SG", "marketing", "-", "3", "1", "SGD", "0.00", "2.50", "0", "1000", "8.00", "SGD"),
        ("rewards", "OVO", "ID", "-", "-", "1", "1", "IDR", "0.00", "0.00", "0", "700", "None", "None"),
    ]
    assert [row[14] for row in found] == ["GRP/SG@1", "None", "GRP/SG@1", "None"]


async def test_a_month_has_what_was_redeemed_less_what_came_back(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1_600)
    await load_codes(pool, ["A", "B"])
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=NOW, also=card_logged(card))
    await run_offers(pool, document())
    await run_reward(pool)
    taking, at = desk(pool, FixedClock(NOW)), Counter(pool, [reward()])
    first, last = await held(taking, wish(1, at=NOW)), await held(taking, wish(2, at=NOW))
    await taking.redemptions.settle(redeeming(first))
    redeemed = (await taking.redemptions.settle(redeeming(last))).redemption
    assert redeemed is not None
    await taking.redemptions.roll_back(rolling_back(redeemed, "part", GAIN.saves // 4))
    await at.redeem("1")
    await at.desk.bring_back(await at.redeem("2"))
    book, month = CardBook(list(CARDS.values())), Month.of(NOW.astimezone(SINGAPORE.zone).date())
    async with snapshot(pool) as connection:
        where = await homes(connection, book, NOW)
        found = await benefits(connection, book, where, month, decimals=2, now=NOW)
    figures = [
        (row.what, row.cost_centre, row.redeemed, row.back, str(row.money_given), row.points_burnt) for row in found
    ]
    assert figures == [("offers", "marketing", 2, 0, "7.35", 0), ("rewards", "-", 2, 1, "0.00", 500)]
