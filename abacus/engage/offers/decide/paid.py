"""A transaction that names a redemption, held against it: the member paid what the basket came to less what was saved,
and earned the points by which the offer's points were reckoned. Pure.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from abacus.core.ids import redemption_key
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.reservation import Redemption
from abacus.pricing.explanation.types import Calculated, Explanation


class Paid(NamedTuple):
    """A transaction that names a redemption, as it stands in the ledger."""

    redemption_id: UUID
    country: str
    currency: str
    amount: Decimal
    points: int

    @classmethod
    def by(cls, explanation: Explanation, country: str) -> "Paid | None":
        """None for what names no redemption."""
        if not isinstance(explanation, Calculated) or explanation.redemption is None:
            return None
        of = explanation
        return cls(UUID(explanation.redemption), country, of.currency, Decimal(of.amount), of.points)


class Recalled(NamedTuple):
    """What is known of the redemption. `saved` is what was saved together with it, in millionths; `earned` are the
    points of the purchase of which the offer's points are a multiple.
    """

    redemption: Redemption
    saved: int
    earned: int | None = None

    @property
    def label(self) -> str:
        return f"{self.redemption.offer}@{self.redemption.version}"


class Comparison(NamedTuple):
    """One thing that was compared. `agrees` is None where it cannot be told any more."""

    agrees: bool | None
    words: str

    @property
    def told(self) -> str:
        """With what is wrong, if something is."""
        return f"does not agree: {self.words}" if self.agrees is False else self.words


def comparisons(paid: Paid, recalled: Recalled) -> Iterator[Comparison]:
    """Everything that can be compared."""
    redemption = recalled.redemption
    here = redemption.country == paid.country and redemption.currency == paid.currency
    elsewhere = "" if here else f", in {redemption.country} and {redemption.currency}"
    yield Comparison(here, f"{recalled.label} {_given(redemption)}{elsewhere}")
    if not here:
        return
    yield _amount(paid, recalled)
    if recalled.earned is not None and len(_lines(redemption)) == 1:
        words = f"the offer's points were reckoned by {recalled.earned} of the purchase, which earned {paid.points}"
        yield Comparison(recalled.earned == paid.points, words)


def _amount(paid: Paid, recalled: Recalled) -> Comparison:
    lines, saved = _lines(recalled.redemption), Decimal(recalled.saved) / MICROS
    if not lines:
        return Comparison(None, "the basket is not kept any more")
    come_to, currency = sum(lines, Decimal(0)), paid.currency
    words = f"the basket came to {_text(come_to, currency)}, less {_text(saved, currency)}"
    return Comparison(come_to - saved == paid.amount, f"{words}; {_text(paid.amount, currency)} {currency} were paid")


def _given(redemption: Redemption) -> str:
    saves, back = redemption.saves, redemption.saves_back
    money = f"took {micros_text(saves, redemption.currency)} {redemption.currency} off"
    if back:
        money += f", of which {micros_text(back, redemption.currency)} were rolled back"
    points = f"gave {redemption.points} points besides, as {redemption_key(redemption.redemption_id)}"
    if redemption.points_back:
        points += ", which were rolled back"
    return " and ".join(each for each, is_there in ((money, saves), (points, redemption.points)) if is_there)


def _lines(redemption: Redemption) -> list[Decimal]:
    """What each line of the basket comes to; none of a member who was erased."""
    return [Decimal(each["price"]) * each.get("quantity", 1) for each in json.loads(redemption.items)]


def micros_text(micros: int, currency: str) -> str:
    """Money in millionths, with all decimals of its currency: 4.20."""
    return _text(Decimal(micros) / MICROS, currency)


def _text(money: Decimal, currency: str) -> str:
    """With all decimals of the currency, and more where the amount has them."""
    decimals = max(decimals_of(currency), -int(money.normalize().as_tuple().exponent))
    return f"{money:.{decimals}f}"
