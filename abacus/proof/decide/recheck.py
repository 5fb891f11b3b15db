"""Recomputing millions of transfers: an explanation equal, to the letter, to what calculating writes is right.

Nearly all are, and writing an explanation again is a third of the work of reading it. An explanation that differs in a
single character is recomputed in full, so this decides nothing by itself. Pure.
"""

from typing import Final

from abacus.core.errors import AbacusError
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.formula import Rate, rate_of, worth
from abacus.pricing.explanation.text import UnreadableExplanation, read
from abacus.pricing.explanation.types import Calculated
from abacus.proof.decide.recompute import recompute

_EARN: Final = str(TransferKind.EARN)
_BEGINS: Final = '{"v":1,"amount":"'
_BEGINS_IN_V0: Final = '{"amount":"'
_AFTER_AMOUNT: Final = '","'
_BEFORE_PRODUCT: Final = '"product":"'


class Recheck:
    """`recompute` with a book of cards, for many. It can be sent to another process."""

    def __init__(self, book: CardBook) -> None:
        self._book = book
        self._rates: dict[str, Rate] = {}  # by the text of their explanations between amount and product

    def __call__(self, transfer: Transfer) -> str | None:
        """The fault of the transfer's explanation, or None."""
        return None if self._is_as_calculated(transfer) else recompute(transfer, self._book)

    def _is_as_calculated(self, transfer: Transfer) -> bool:
        if transfer.kind != _EARN or transfer.vests_on is not None:
            return False
        try:
            text = _in_v1(transfer.explanation.decode())
            amount, _, rest = text.removeprefix(_BEGINS).partition(_AFTER_AMOUNT)
            named, _, _ = rest.partition(_BEFORE_PRODUCT)
            rate = self._rates.get(named) or self._rate(named, text)
            return worth(amount, rate) == (transfer.points, text.encode())
        except (AbacusError, LookupError, TypeError, ValueError, ArithmeticError):
            return False

    def _rate(self, named: str, text: str) -> Rate:
        """The rate that an explanation names; kept if calculating would write the same."""
        explanation = read(text.encode())
        if not isinstance(explanation, Calculated):
            raise UnreadableExplanation("it is not calculated")
        card = self._book.by_name(explanation.card)
        rate = rate_of(card, explanation.entry("vertical"), explanation.entry("cashless"), explanation.entry("tier"))
        if card.card.vests_after_days is not None:
            raise UnreadableExplanation("its points vest, which the explanation does not say")
        if rate.explained_before == f"{_AFTER_AMOUNT}{named}{_BEFORE_PRODUCT}":
            self._rates[named] = rate
        return rate


def _in_v1(text: str) -> str:
    """The text of version 0: the same, without its version."""
    return f"{_BEGINS}{text.removeprefix(_BEGINS_IN_V0)}" if text.startswith(_BEGINS_IN_V0) else text
