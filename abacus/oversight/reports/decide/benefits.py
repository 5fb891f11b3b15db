"""What offers gave and rewards cost in a month, by who pays, with the value of their points. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from abacus.core.points import EXACT
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide import report as of_offers
from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.report_parts import NOT_NAMED, VersionPlace, paid_by
from abacus.engage.rewards.decide import report as of_rewards
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.oversight.reports.decide.liability import in_money
from abacus.programs.expiry.decide.month import Month

OFFERS: Final = "offers"
REWARDS: Final = "rewards"


class Tender(NamedTuple):
    """The points of a country, and its money, by its card."""

    program: str
    currency: str


class BenefitRow(NamedTuple):
    """What one payer answers for. Offers give money and points, and rewards burn points; members may pay a part of a
    reward in money. What was rolled back, cancelled or returned in the month is taken off. `value` is that of the
    points, at the cost of a point by the assumption on the month's last day; empty without one.
    """

    what: str
    program: str
    country: str
    cost_centre: str
    partner: str
    redeemed: int
    back: int
    currency: str
    money_given: Decimal
    money_paid: Decimal
    points_given: int
    points_burnt: int
    value: Decimal | None
    value_currency: str | None
    assumption: str | None


class _Part(NamedTuple):
    what: str
    program: str
    country: str
    cost_centre: str
    partner: str
    currency: str


class _Figures(NamedTuple):
    redeemed: int = 0
    back: int = 0
    money_given: Decimal = Decimal()
    money_paid: Decimal = Decimal()
    points_given: int = 0
    points_burnt: int = 0

    def plus(self, other: "_Figures") -> "_Figures":
        return _Figures(
            self.redeemed + other.redeemed,
            self.back + other.back,
            self.money_given + other.money_given,
            self.money_paid + other.money_paid,
            self.points_given + other.points_given,
            self.points_burnt + other.points_burnt,
        )


def offers_given(
    counted: Iterable[of_offers.Counted],
    terms: Mapping[VersionPlace, of_offers.Terms],
    tenders: Mapping[str, Tender],
) -> Iterable[tuple[_Part, _Figures]]:
    """Of each version and day."""
    for each in counted:
        of = terms[each.offer, each.version]
        program = tenders[of.country].program if of.country in tenders else NOT_NAMED
        part = _Part(OFFERS, program, of.country, *_payer(of.payer), of.currency)
        money = Decimal(each.money) / MICROS
        yield part, _Figures(each.redeemed, each.rolled_back, money_given=money, points_given=each.points)


def rewards_burnt(
    counted: Iterable[of_rewards.Counted],
    payers: Mapping[VersionPlace, Payer],
    tenders: Mapping[str, Tender],
) -> Iterable[tuple[_Part, _Figures]]:
    """Of each version and day."""
    for each in counted:
        payer = payers[each.reward, each.version]
        currency = tenders[each.country].currency if each.country in tenders else NOT_NAMED
        part = _Part(REWARDS, each.program, each.country, *_payer(payer), currency)
        back = each.cancelled + each.returned
        yield part, _Figures(each.redeemed, back, money_paid=each.money, points_burnt=each.points)


def benefit_rows(
    parts: Iterable[tuple[_Part, _Figures]], book: AssumptionBook, month: Month, *, decimals: int
) -> Sequence[BenefitRow]:
    """In the order of their parts. A payer is left out where all figures are nothing."""
    sums: dict[_Part, _Figures] = {}
    for part, figures in parts:
        sums[part] = sums.get(part, _Figures()).plus(figures)
    return [_row(part, figures, book, month, decimals) for part, figures in sorted(sums.items()) if any(figures)]


def _row(part: _Part, figures: _Figures, book: AssumptionBook, month: Month, decimals: int) -> BenefitRow:
    assumption = book.in_force((part.program, part.country), month.last_day)
    cost = None if assumption is None else assumption.estimate.cost_per_point
    points = figures.points_given + figures.points_burnt
    value = None if cost is None else in_money(EXACT.multiply(Decimal(points), cost), decimals)
    named = assumption if value is not None else None
    return BenefitRow(
        what=part.what,
        program=part.program,
        country=part.country,
        cost_centre=part.cost_centre,
        partner=part.partner,
        redeemed=figures.redeemed,
        back=figures.back,
        currency=part.currency,
        money_given=in_money(figures.money_given, decimals),
        money_paid=in_money(figures.money_paid, decimals),
        points_given=figures.points_given,
        points_burnt=figures.points_burnt,
        value=value,
        value_currency=named.estimate.currency if named is not None else None,
        assumption=named.name if named is not None else None,
    )


def _payer(payer: Payer) -> tuple[str, str]:
    return paid_by(payer, "cost_centre"), paid_by(payer, "partner")
