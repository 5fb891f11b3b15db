"""Finance's assumption on a program's points in a country: a version, from a day on. Pure."""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

from abacus.core.errors import Refused
from abacus.core.fields import Bad, string
from abacus.core.points import EXACT
from abacus.pricing.decide.card import PublishedCard, country_of
from abacus.pricing.decide.figures import multiplier

_HUNDRED: Final = Decimal(100)

Pair: TypeAlias = tuple[str, str]  # a program in a country


class Estimate(NamedTuple):
    """The values of an assumption. `expected_use` is the share of all points that will be used; the rest is breakage.

    A point has three separate prices: its cost when it is used, its price when sold alone, and the part of the sale's
    price that was allocated to it.
    """

    currency: str
    expected_use: Decimal
    cost_per_point: Decimal | None = None
    selling_price: Decimal | None = None
    allocated_per_point: Decimal | None = None


class Assumption(NamedTuple):
    """An estimate with its number, which never changes again. In force from the start of its day."""

    program: str
    country: str
    version: int
    effective_from: date
    estimate: Estimate
    set_at: datetime
    set_by: str
    reason: str

    @property
    def name(self) -> str:
        return f"{self.program}/{self.country}@{self.version}"


def check_follows(latest: Assumption, effective_from: date, estimate: Estimate) -> None:
    """Raises `Refused` if the latest version says the same already, or is in another currency: sums over months would
    mix the two.
    """
    if (latest.effective_from, latest.estimate) == (effective_from, estimate):
        raise Refused(f"{latest.name} says the same already; nothing to set")
    if latest.estimate.currency != estimate.currency:
        raise Refused(f"{latest.name} is in {latest.estimate.currency}, so this cannot be in {estimate.currency}")


def check_issued(program: str, country: str, cards: Iterable[PublishedCard]) -> None:
    """Raises `Refused` if no card that was ever published for the country, or for a partner, is of this program."""
    issued = {each.card.program for each in cards if country_of(each.card.scope) in {country, None}}
    if program not in issued:
        known = f"the cards there are of {', '.join(sorted(issued))}" if issued else "no card was ever published there"
        raise Refused(f"nobody issues points of {program} in {country}: {known}")


class AssumptionBook:
    """All versions, and which of them is in force when."""

    def __init__(self, versions: Iterable[Assumption]) -> None:
        self._lines: dict[Pair, list[Assumption]] = {}
        for each in sorted(versions, key=lambda each: (each.effective_from, each.version)):
            self._lines.setdefault((each.program, each.country), []).append(each)

    def pairs(self) -> list[Pair]:
        """The programs and countries with an assumption."""
        return sorted(self._lines)

    def in_force(self, pair: Pair, day: date) -> Assumption | None:
        """The latest version that is effective by that day; of several from one day, the last set."""
        line = [each for each in self._lines.get(pair, ()) if each.effective_from <= day]
        return line[-1] if line else None


def share(value: object) -> Decimal:
    """A share of the points, as 97% or 0.97. Raises `Bad`."""
    text = string(value)
    number = multiplier(text.removesuffix("%").rstrip())
    found = EXACT.divide(number, _HUNDRED) if text.endswith("%") else number
    if not 0 < found <= 1:
        raise Bad(f"{text!r} is not above 0 % and at most 100 %; write it as 97%")
    return found


def read_share(text: str) -> Decimal:
    """Raises `Refused`."""
    try:
        return share(text)
    except Bad as bad:
        raise Refused(f"--expected-use: {bad}") from None


def read_price(text: str, option: str) -> Decimal:
    """A price of one point, or an amount of money. Raises `Refused`."""
    try:
        return multiplier(text)
    except Bad as bad:
        raise Refused(f"{option}: {bad}") from None


def percent(share: Decimal) -> str:
    return f"{EXACT.multiply(share, _HUNDRED).normalize():f}%"
