"""What came of offers, as a report says it: by day, by offer, or by the cost centre or partner that pays. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.offer import Payer

NOT_NAMED: Final = "-"  # where somebody else pays

VersionPlace: TypeAlias = tuple[str, int]  # the name and the version of an offer


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


class _Part(NamedTuple):
    """What a line is about."""

    day: date
    offer: str
    cost_centre: str
    partner: str
    currency: str


_NO_DAY: Final = date.min
_COLUMNS: Final = {By.DAY: "day", By.OFFER: "offer", By.COST_CENTRE: "cost_centre", By.PARTNER: "partner"}


def not_asked_for(by: By) -> list[str]:
    """The columns that a report by this does not have."""
    return [column for each, column in _COLUMNS.items() if each is not by]


def paid_by(payer: Payer, kind: str) -> str:
    """The name of the payer, where it is of this kind."""
    return payer.name if payer.kind == kind else NOT_NAMED


def lines_of(counted: Iterable[Counted], terms: Mapping[VersionPlace, Terms], by: By) -> Sequence[OfferLine]:
    """In the order of their parts. Currencies are never added up."""
    sums: dict[_Part, list[int]] = {}
    for each in counted:
        of = terms[each.offer, each.version]
        part = _Part(
            each.day if by is By.DAY else _NO_DAY,
            each.offer if by is By.OFFER else NOT_NAMED,
            paid_by(of.payer, "cost_centre") if by is By.COST_CENTRE else NOT_NAMED,
            paid_by(of.payer, "partner") if by is By.PARTNER else NOT_NAMED,
            of.currency,
        )
        figures = each[3:]
        before = sums.setdefault(part, [0] * len(figures))
        sums[part] = [so_far + more for so_far, more in zip(before, figures, strict=True)]
    return [_line(part, figures) for part, figures in sorted(sums.items())]


def _line(part: _Part, figures: Sequence[int]) -> OfferLine:
    shown, reserved, redeemed, let_go, rolled_back, money, points = figures
    return OfferLine(
        None if part.day == _NO_DAY else part.day,
        *part[1:],
        shown=shown,
        reserved=reserved,
        redeemed=redeemed,
        let_go=let_go,
        rolled_back=rolled_back,
        money=money_of(money, part.currency),
        points=points,
    )


def money_of(millionths: int, currency: str) -> Decimal:
    """With all decimals of the currency."""
    return (Decimal(millionths) / MICROS).quantize(Decimal(1).scaleb(-decimals_of(currency)))
