"""What came of rewards, as a report says it: by day, by reward, or by the cost centre or partner that pays. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.report import NOT_NAMED, paid_by

VersionPlace: TypeAlias = tuple[str, int]  # the name and the version of a reward


class By(StrEnum):
    """What the lines of a report are parted by."""

    DAY = "day"
    REWARD = "reward"
    COST_CENTRE = "cost-centre"
    PARTNER = "partner"


class Counted(NamedTuple):
    """What came of a version on a day by the country's clock. `points` and `money` are those of redemptions that were
    paid; what came back that day is taken off.
    """

    reward: str
    version: int
    program: str
    country: str
    day: date
    redeemed: int
    pieces: int
    cancelled: int
    returned: int
    points: int
    money: Decimal


class RewardLine(NamedTuple):
    """A line of a report; it has one of the columns before the currency, which is that of the money."""

    day: date | None
    reward: str
    cost_centre: str
    partner: str
    currency: str
    redeemed: int
    pieces: int
    cancelled: int
    returned: int
    points: int
    money: Decimal


class _Part(NamedTuple):
    """What a line is about."""

    day: date
    reward: str
    cost_centre: str
    partner: str
    currency: str


_NO_DAY: Final = date.min
_COLUMNS: Final = {By.DAY: "day", By.REWARD: "reward", By.COST_CENTRE: "cost_centre", By.PARTNER: "partner"}


def not_asked_for(by: By) -> list[str]:
    """The columns that a report by this does not have."""
    return [column for each, column in _COLUMNS.items() if each is not by]


def lines_of(
    counted: Iterable[Counted], payers: Mapping[VersionPlace, Payer], currencies: Mapping[str, str], by: By
) -> Sequence[RewardLine]:
    """In the order of their parts. `currencies` has that of each country; currencies are never added up."""
    sums: dict[_Part, tuple[list[int], Decimal]] = {}
    for each in counted:
        payer = payers[each.reward, each.version]
        part = _Part(
            each.day if by is By.DAY else _NO_DAY,
            each.reward if by is By.REWARD else NOT_NAMED,
            paid_by(payer, "cost_centre") if by is By.COST_CENTRE else NOT_NAMED,
            paid_by(payer, "partner") if by is By.PARTNER else NOT_NAMED,
            currencies.get(each.country, NOT_NAMED),
        )
        figures = each[5:-1]
        before, money = sums.get(part, ([0] * len(figures), Decimal()))
        sums[part] = [so_far + more for so_far, more in zip(before, figures, strict=True)], money + each.money
    return [_line(part, figures, money) for part, (figures, money) in sorted(sums.items())]


def _line(part: _Part, figures: Sequence[int], money: Decimal) -> RewardLine:
    redeemed, pieces, cancelled, returned, points = figures
    return RewardLine(
        None if part.day == _NO_DAY else part.day,
        *part[1:],
        redeemed=redeemed,
        pieces=pieces,
        cancelled=cancelled,
        returned=returned,
        points=points,
        money=_rounded(money, part.currency),
    )


def _rounded(money: Decimal, currency: str) -> Decimal:
    return money.quantize(Decimal(1).scaleb(-decimals_of(currency)))
