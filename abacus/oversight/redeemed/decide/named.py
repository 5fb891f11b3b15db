"""A transaction that names a redemption, with what it names: an offer, a reward, or nothing of its member. Pure."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from abacus.engage.offers.decide.paid import Comparison, Paid, Recalled, comparisons, micros_text
from abacus.engage.rewards.decide.paid import comparison
from abacus.engage.rewards.decide.redemption import Redemption

ANOTHER: Final = "another transaction"  # for a reader who may not see its key


class Named(NamedTuple):
    """`redeemed` is None where the member has no such redemption. `first` is the key of the transaction that named the
    redemption before this one.
    """

    paid: Paid
    redeemed: Recalled | Redemption | None
    first: str | None = None

    @property
    def compared(self) -> Iterator[Comparison]:
        """Everything that can be compared."""
        match self.redeemed:
            case None:
                words = f"neither an offer nor a reward was redeemed for the member as {self.paid.redemption_id}"
                yield Comparison(agrees=False, words=words)
                return
            case Redemption():
                yield comparison(self.paid, self.redeemed)
            case Recalled():
                yield from comparisons(self.paid, self.redeemed)
        if self.first is not None:
            yield Comparison(agrees=False, words=f"{self.first} named this redemption before")

    @property
    def faults(self) -> list[str]:
        return [each.words for each in self.compared if each.agrees is False]

    @property
    def document(self) -> dict[str, Any]:
        """The offer with what it took off and gave besides, or the reward with what it cost; and whether transaction
        and redemption agree.
        """
        told: dict[str, Any] = {"redemption_id": str(self.paid.redemption_id)}
        match self.redeemed:
            case Redemption() as of:
                told |= {"reward": of.reward, "version": of.version, "quantity": of.quantity, "points": of.points}
            case Recalled(redemption=of):
                told |= {"offer": of.offer, "version": of.version}
                told |= {"saves": micros_text(of.saves, of.currency), "points": of.points}
        return told | {"faults": self.faults}
