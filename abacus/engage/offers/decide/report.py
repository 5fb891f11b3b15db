"""What came of offers, as a report says it: by day, by offer, or by the cost centre or partner that pays. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.report_parts import Part, VersionPlace, money_of, part_of, summed


class By(StrEnum):
    """What the lines of a report are parted by."""

    DAY = "day"
    OFFER = "offer"
    COST_CENTRE = "cost-centre"
    PARTNER = "partner"


class Terms(NamedTuple):
    """What a report has to know of a version of an offer."""

    country: str
    currency: str
    payer: Payer


class Counted(NamedTuple):
    """What came of a version on a day. `money`, in millionths, and `points` were given; what was rolled back that day
    is taken off. `rolled_back` counts redemptions of which all was rolled back.
    """

    offer: str
    version: int
    day: date
    shown: int
    reserved: int
    redeemed: int
    let_go: int
    rolled_back: int
    money: int
    points: int


class OfferLine(NamedTuple):
    """A line of a report; it has one of the columns before the currency."""

    day: date | None
    offer: str
    cost_centre: str
    partner: str
    currency: str
    shown: int
    reserved: int
    redeemed: int
    let_go: int
    rolled_back: int
    money: Decimal
    points: int


def lines_of(counted: Iterable[Counted], terms: Mapping[VersionPlace, Terms], by: By) -> Sequence[OfferLine]:
    """In the order of their parts."""
    return [_line(*each) for each in summed(_parted(counted, terms, by))]


def _parted(
    counted: Iterable[Counted], terms: Mapping[VersionPlace, Terms], by: By
) -> Iterator[tuple[Part, Sequence[int]]]:
    for each in counted:
        of = terms[each.offer, each.version]
        yield part_of(by, each.day, each.offer, of.payer, of.currency), each[3:]


def _line(part: Part, figures: Sequence[int]) -> OfferLine:
    shown, reserved, redeemed, let_go, back, money, points = figures
    times = shown, reserved, redeemed, let_go, back
    return OfferLine(part.day, *part[1:], *times, money_of(money, part.currency), points)
