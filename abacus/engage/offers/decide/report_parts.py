"""What a line of a report of offers or rewards is about, and the sums of each. Pure."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.offer import Payer

NOT_NAMED: Final = "-"  # where somebody else pays, or the lines are parted by something else
_DAY: Final = "day"
_PAYERS: Final = {"cost-centre": "cost_centre", "partner": "partner"}  # what parts lines, and the payers of that kind
_NO_DAY: Final = date.min

VersionPlace: TypeAlias = tuple[str, int]  # the name and the version of an offer or a reward


class Part(NamedTuple):
    """What a line is about: a day, a name or a payer; and the currency of its money."""

    on: date
    name: str
    cost_centre: str
    partner: str
    currency: str

    @property
    def day(self) -> date | None:
        return None if self.on == _NO_DAY else self.on


def part_of(by: StrEnum, day: date, name: str, payer: Payer, currency: str) -> Part:
    """`by` is a day, a kind of payer, or else the name."""
    cost_centre, partner = (paid_by(payer, kind) if by == each else NOT_NAMED for each, kind in _PAYERS.items())
    is_named = by != _DAY and by not in _PAYERS
    return Part(day if by == _DAY else _NO_DAY, name if is_named else NOT_NAMED, cost_centre, partner, currency)


def not_asked_for(by: StrEnum) -> list[str]:
    """The columns that a report by this does not have."""
    return [each.replace("-", "_") for each in type(by) if each is not by]


def paid_by(payer: Payer, kind: str) -> str:
    """The name of the payer, where it is of this kind."""
    return payer.name if payer.kind == kind else NOT_NAMED


def summed(counted: Iterable[tuple[Part, Sequence[int]]]) -> list[tuple[Part, list[int]]]:
    """The sums of each part, in the order of parts. Currencies are never added up."""
    sums: dict[Part, list[int]] = {}
    for part, figures in counted:
        before = sums.setdefault(part, [0] * len(figures))
        sums[part] = [so_far + more for so_far, more in zip(before, figures, strict=True)]
    return sorted(sums.items())


def money_of(millionths: int, currency: str) -> Decimal:
    """With all decimals of the currency."""
    return (Decimal(millionths) / MICROS).quantize(Decimal(1).scaleb(-decimals_of(currency)))
