"""A draft card on past awards: it gives the points that the formula gives, and counts unpriced awards apart."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, Refused, SetAside
from abacus.core.points import Multiplier, Points, Rounding
from abacus.oversight.backtest.decide.difference import Backtest, Replayed
from abacus.oversight.backtest.replay import backtest
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.pricing.decide.formula import fixed_worth, rate_of, worth
from tests.oversight.reports.histories import History, Move, write
from tests.support.cards import SINGAPORE, times
from tests.support.tries import tries

FIRST, AFTER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
NOON = datetime(2026, 1, 10, 4, tzinfo=UTC)
_members = itertools.count()
PUBLISHED = PublishedCard(SINGAPORE, 7)


async def of(pool: Pool, draft: RateCard, since: datetime = FIRST, until: datetime = AFTER) -> Backtest:
    async with snapshot(pool) as connection:
        return await backtest(connection, draft, since, until)


def meal(amount: str = "15.00", payment: str = "wallet", tier: str = "member", at: datetime = NOON) -> Move:
    points, text = worth(amount, rate_of(PUBLISHED, "food", payment, tier))
    return Move("earn", points, at, explanation=orjson.loads(text))


amounts = st.decimals(0, 10**9, places=4).map(lambda amount: f"{amount:f}") | st.integers(0, 10**9).map(str)
multipliers = st.decimals(0, 1000, places=6).map(Multiplier)
drafts = st.builds(
    lambda eppf, rounding, verticals, payments, tiers: replace(
        SINGAPORE, eppf=eppf, rounding=rounding, verticals=verticals, payment_types=payments, tiers=tiers
    ),
    multipliers,
    st.sampled_from(Rounding),
    st.fixed_dictionaries({"food": multipliers}),
    st.fixed_dictionaries({"wallet": multipliers, "cash": multipliers}),
    st.fixed_dictionaries({"member": multipliers, "silver": multipliers, "platinum": multipliers}),
)


@settings(max_examples=tries(by_day=25, by_night=60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drafts,
    st.lists(
        st.tuples(amounts, st.sampled_from(["wallet", "cash"]), st.sampled_from(["member", "silver", "platinum"])),
        min_size=1,
        max_size=8,
    ),
)
@example(replace(SINGAPORE, eppf=times("1000000")), [("1000000000", "wallet", "member"), ("1", "wallet", "member")])
async def test_the_statement_gives_what_the_formula_gives(
    pool: Pool, draft: RateCard, transactions: list[tuple[str, str, str]]
) -> None:
    """For any card, amount and rounding, to the point. A day of its own keeps each example apart."""
    day = FIRST + timedelta(days=next(_members))
    for place, (amount, payment, tier) in enumerate(transactions):
        moved = meal(amount, payment, tier, at=day + timedelta(minutes=place))
        await write(pool, [History(f"m{day:%j}-{place}", [moved])])
    report = await of(pool, draft, day, day + timedelta(days=1))
    published = PublishedCard(draft, 8)
    expected = [_drafted(published, *transaction) for transaction in transactions]
    priced = [points for points in expected if points is not None]
    assert (report.total.awards, report.total.drafted) == (len(priced), sum(priced))
    assert [(each.reason, each.awards) for each in report.unpriced] == [
        (reason, count) for reason, count in [("out-of-range", expected.count(None))] if count
    ]


def _drafted(card: PublishedCard, amount: str, payment: str, tier: str) -> int | None:
    """The drafted points; `None` where they are more than one award carries."""
    try:
        return worth(amount, rate_of(card, "food", payment, tier))[0]
    except SetAside as refused:
        if refused.reason is Reason.OUT_OF_RANGE:
            return None
        raise


async def test_by_vertical_payment_type_tier_and_month(pool: Pool) -> None:
    """Food goes from 2 to 3. The month is Singapore's, by the time of the transaction."""
    new_year_there = datetime(2026, 1, 31, 17, tzinfo=UTC)
    moves = [meal(), meal(payment="cash", tier="platinum"), meal(at=new_year_there)]
    await write(pool, [History("bob", moves)])
    report = await of(pool, replace(SINGAPORE, verticals={"food": times("3"), "rides": times("1")}))
    assert [tuple(row) for row in report.differences] == [
        ("food", "cash", "platinum", "2026-01", 1, 90, 135, 45),
        ("food", "wallet", "member", "2026-01", 1, 60, 90, 30),
        ("food", "wallet", "member", "2026-02", 1, 60, 90, 30),
    ]
    assert [tuple(step) for step in report.along("month")] == [("2026-01", 2, 150, 225, 75), ("2026-02", 1, 60, 90, 30)]
    assert tuple(report.total) == ("total", 3, 210, 315, 105)
    assert report.by_country() == {"SG": 105}


async def test_what_the_draft_cannot_price_is_counted_apart(pool: Pool) -> None:
    draft = replace(SINGAPORE, verticals={"rides": times("1")}, payment_types={"cash": times("1")})
    no_tier = replace(SINGAPORE, tiers={"member": times("1")})
    dollars = replace(SINGAPORE, currency="USD")
    huge = replace(SINGAPORE, eppf=Multiplier(Decimal(10) ** 15))
    await write(pool, [History("bob", [meal(tier="silver")])])
    for card, reason in (
        (draft, "unknown-vertical"),
        (replace(SINGAPORE, payment_types={"cash": times("1")}), "unknown-payment-type"),
        (no_tier, "unknown-tier"),
        (dollars, "unknown-currency"),
        (huge, "out-of-range"),
    ):
        report = await of(pool, card)
        assert [tuple(each) for each in report.unpriced] == [(reason, 1, 90)]
        assert report.total.awards == 0


async def test_fixed_awards_grants_and_what_is_not_the_scopes(pool: Pool) -> None:
    fixed = orjson.loads(fixed_worth(PUBLISHED, "booking.cancelled_by_driver", Points(100))[1])
    dropped = orjson.loads(fixed_worth(PUBLISHED, "survey.answered", Points(5))[1])
    grant = {"granted_by": "acme", "reason": "Welcome", "card": "SG@7", "points": 50}
    theirs = meal()
    moves = [
        Move("earn", 100, NOON, explanation=fixed),
        Move("earn", 5, NOON, explanation=dropped),
        Move("earn", 50, NOON, partner="acme", explanation=grant),
        Move("earn", 7, NOON),  # says nothing of how it came about
        replace(theirs, partner="acme", explanation={**theirs.explanation, "card": "partner:acme@2"}),
        Move("spend", -10, NOON),
    ]
    await write(pool, [History("bob", moves), History("eve", [theirs], country="MY")])
    report = await of(pool, replace(SINGAPORE, fixed_awards={"booking.cancelled_by_driver": Points(150)}))
    assert [(row.vertical, row.points, row.drafted) for row in report.differences] == [
        ("booking.cancelled_by_driver", 100, 150),
        ("survey.answered", 5, 0),
    ]
    assert [tuple(each) for each in report.unpriced] == [("granted", 1, 50), ("unexplained", 1, 7)]
    partners = await of(pool, replace(SINGAPORE, scope="partner:acme", verticals={"food": times("1")}))
    assert (partners.total.points, partners.total.drafted) == (60, 30)


@pytest.mark.parametrize("factors", [[["vertical", "food"], ["eppf"]], "none"])
async def test_an_explanation_that_nobody_can_read(pool: Pool, factors: object) -> None:
    broken = Move("earn", 1, NOON, explanation={"amount": "1", "card": "SG@7", "factors": factors})
    await write(pool, [History("bob", [broken])])
    with pytest.raises(Refused, match="an award's explanation cannot be read"):
        await of(pool, SINGAPORE)


def test_sums_of_nothing() -> None:
    nothing = Backtest([Replayed("SG", "-", "-", "-", "2026-01", "granted", 2, 10, 0)])
    assert (nothing.total.awards, nothing.differences, nothing.by_country()) == (0, [], {})
