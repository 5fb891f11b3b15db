"""What an offer would have given for past purchases: in the order of their time over all slices, within its limits."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest

from abacus.core.errors import Refused
from abacus.engage.limits.types import Bound, Limits
from abacus.engage.offers.backtest import OfferBacktest, PastSubject
from abacus.engage.offers.decide.offer import Audience, Benefit, BenefitKind, Gate, Offer, Scope, Values
from abacus.engage.offers.decide.past import Window, in_its_time, not_told
from abacus.engage.offers.takers import MostOfAMember, takers
from abacus.oversight.backtest.purchases import purchases
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.formula import rate_of, worth
from abacus.signals.facts.types import FactRegistry
from abacus.signals.segments.sets import Pair
from tests.engage.offers.taken import lunch
from tests.oversight.reports.histories import History, Move, write
from tests.support.cards import SINGAPORE

CARD = PublishedCard(SINGAPORE, 7)
FIRST = datetime(2026, 1, 10, 4, tzinfo=UTC)  # noon in Singapore
WINDOW = Window(datetime(2026, 1, 9, 16, tzinfo=UTC), datetime(2026, 1, 31, 16, tzinfo=UTC))
OFFER = lunch(starts_at=WINDOW.begin, ends_at=WINDOW.end)
TENTH, ELEVENTH = date(2026, 1, 10), date(2026, 1, 11)


def meal(amount: str, hours: float) -> Move:
    points, text = worth(amount, rate_of(CARD, "food", "wallet", "member"))
    return Move("earn", points, FIRST + timedelta(hours=hours), explanation=orjson.loads(text))


# By hand: five meals, the fourth on the next day in Singapore, and one that a partner gave.
HISTORIES = [
    History("ann", [meal("10.00", 0), meal("30.00", 2)]),
    History("bob", [meal("20.00", 1), meal("5.00", 13)]),
    History("cleo", [meal("3.00", 3), Move("earn", 50, FIRST, explanation={"granted_by": "shop", "points": 50})]),
]
POINTS = sum(each.points for history in HISTORIES for each in history.moves if each.points != 50)


async def nobody_in(pairs: Collection[Pair]) -> Mapping[Pair, bool]:
    return dict.fromkeys(pairs, False)


async def over(pool: Pool, offer: Offer, *invited: str) -> tuple[OfferBacktest, MostOfAMember]:
    facts: FactRegistry[PastSubject] = FactRegistry()

    async def among(members: Collection[str]) -> Collection[str]:
        return set(invited) & set(members)

    with takers() as memory:
        under_test = OfferBacktest(
            offer,
            None,
            memory,
            facts=facts,
            segments=nobody_in,
            invited=among if invited else None,
            point_value=None,
        )
        async with snapshot(pool) as connection:
            async for page in purchases(connection, "SG", "SGD", WINDOW):
                await under_test.take(page)
        return under_test, memory.most()


@pytest.mark.parametrize(
    ("changes", "lines", "refused"),
    [
        ({}, [(TENTH, "given", 4, "12.60"), (ELEVENTH, "given", 1, "1.00")], {}),
        (
            {"limits": Limits(overall=Bound(runs=2))},
            [(TENTH, "given", 2, "6.00"), (TENTH, "uses.overall", 2, "6.60"), (ELEVENTH, "uses.overall", 1, "1.00")],
            {},
        ),
        (
            {"limits": Limits(day=Bound(cost=6_600_000))},
            [(TENTH, "given", 3, "6.60"), (TENTH, "money.day", 1, "6.00"), (ELEVENTH, "given", 1, "1.00")],
            {},
        ),
        (
            {"limits": Limits(member_day=Bound(runs=1))},
            [(TENTH, "given", 3, "6.60"), (TENTH, "uses.member_day", 1, "6.00"), (ELEVENTH, "given", 1, "1.00")],
            {},
        ),
        (
            {"limits": Limits(member=Bound(runs=1))},
            [(TENTH, "given", 3, "6.60"), (TENTH, "uses.member", 1, "6.00"), (ELEVENTH, "uses.member", 1, "1.00")],
            {},
        ),
        (
            {"price": Gate(Decimal(10), Decimal(30))},
            [(TENTH, "given", 2, "6.00")],
            {"price": 3},
        ),
        ({"scope": Scope(values=Values(categories=frozenset({"rides"})))}, [], {"scope": 5}),
        (
            {"audience": Audience.INVITATION},
            [(TENTH, "given", 1, "4.00"), (ELEVENTH, "given", 1, "1.00")],
            {"admission": 3},
        ),
    ],
)
async def test_against_rows_by_hand(
    pool: Pool, changes: dict[str, Any], lines: Sequence[tuple[object, ...]], refused: dict[str, int]
) -> None:
    """A fifth off: 10, 20, 30 and 3 dollars on the first day, 5 on the second."""
    await write(pool, HISTORIES)
    invited = ["bob"] if "audience" in changes else []
    found, _ = await over(pool, lunch(**{"starts_at": WINDOW.begin, "ends_at": WINDOW.end, **changes}), *invited)
    assert [(each.day, each.outcome, each.purchases, f"{each.money / 10**6:.2f}") for each in found.lines()] == lines
    assert (found.read, dict(found.refused)) == (5, refused)


async def test_points_times_gives_those_of_the_purchase_once_more(pool: Pool) -> None:
    await write(pool, HISTORIES)
    benefit = Benefit(BenefitKind.POINTS_TIMES, Decimal(2))
    found, most = await over(pool, lunch(starts_at=WINDOW.begin, ends_at=WINDOW.end, benefit=benefit))
    assert sum(each.points for each in found.lines()) == POINTS
    assert (most.members, most.uses, most.cost) == (3, 2, 0)


@pytest.mark.parametrize(
    ("begins", "any_time", "fits"),
    [(timedelta(0), False, True), (timedelta(days=40), False, False), (timedelta(days=40), True, True)],
)
def test_its_own_time(begins: timedelta, *, any_time: bool, fits: bool) -> None:
    offer = lunch(starts_at=WINDOW.begin + begins, ends_at=WINDOW.end + begins)
    if fits:
        assert in_its_time(offer, WINDOW, any_time=any_time).starts_at == WINDOW.begin
    else:
        with pytest.raises(Refused, match="--any-time leaves that out of account"):
            in_its_time(offer, WINDOW, any_time=any_time)


def test_what_past_purchases_do_not_say() -> None:
    values = Values(products=frozenset({"laksa"}), categories=frozenset({"food"}))
    assert not_told(lunch(scope=Scope(values=values))) == ["products"]
