"""What came of rewards, as a report says it: by day, by reward, or by the cost centre or partner that pays. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.report_parts import NOT_NAMED, Part, VersionPlace, money_of, part_of, summed


class By(StrEnum):
    """What the lines of a report are parted by."""

    DAY = "day"
    REWARD = "reward"
    COST_CENTRE = "cost-centre"
    PARTNER = "partner"


class Counted(NamedTuple):
    """What came of a version on a day by the country's clock. `points` and `money` were paid that day; what came back
    that day is taken off.
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


def lines_of(
    counted: Iterable[Counted], payers: Mapping[VersionPlace, Payer], currencies: Mapping[str, str], by: By
) -> Sequence[RewardLine]:
    """In the order of their parts. `currencies` has that of each country."""
    return [_line(*each) for each in summed(_parted(counted, payers, currencies, by))]


def _parted(
    counted: Iterable[Counted], payers: Mapping[VersionPlace, Payer], currencies: Mapping[str, str], by: By
) -> Iterator[tuple[Part, Sequence[int]]]:
    for each in counted:
        currency = currencies.get(each.country, NOT_NAMED)
        part = part_of(by, each.day, each.reward, payers[each.reward, each.version], currency)
        yield part, (*each[5:-1], int(each.money * MICROS))


def _line(part: Part, figures: Sequence[int]) -> RewardLine:
    redeemed, pieces, cancelled, returned, points, money = figures
    times = redeemed, pieces, cancelled, returned
    return RewardLine(part.day, *part[1:], *times, points, money_of(money, part.currency))
