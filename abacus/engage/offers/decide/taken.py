"""What was taken of an offer, out of what came of it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.engage.limits.types import NOTHING, Amounts
from abacus.engage.offers.decide.outcomes import Outcome

_TAKES: Final = (Outcome.RESERVED, Outcome.CHANGED)
_LETS_GO: Final = (Outcome.RELEASED, Outcome.EXPIRED)
_HELD: Final = "held"


class CameOf(NamedTuple):
    """How often something came of an offer, with the points and the money, in millionths, that it gave; `cost` is what
    the limits count.
    """

    outcome: str
    times: int
    points: int
    saves: int
    cost: int

    @property
    def amounts(self) -> Amounts:
        return Amounts(self.times, self.points, self.cost)


class Taken(NamedTuple):
    """What all members took of an offer: what counts against its limits, the part of it that is held, and what came of
    it.
    """

    used: Amounts
    held: Amounts
    came_of: Sequence[CameOf]


def taken_of(found: Iterable[CameOf]) -> Taken:
    """Out of the sums of each outcome."""
    by_outcome = {each.outcome: each for each in found}
    amounts = {outcome: each.amounts for outcome, each in by_outcome.items()}
    open_ = _sum(amounts, _TAKES).minus(_sum(amounts, _LETS_GO))
    held = open_.minus(amounts.get(Outcome.REDEEMED, NOTHING))
    used = open_.minus(amounts.get(Outcome.ROLLED_BACK, NOTHING))
    there = [each for each in Outcome if each in by_outcome and each not in _TAKES]
    told = [by_outcome[each]._replace(outcome=each.replace("_", " ")) for each in there]
    if held.runs:
        saves = sum(_sign(each.outcome) * each.saves for each in by_outcome.values())
        told.insert(0, CameOf(_HELD, held.runs, held.points, saves, held.cost))
    return Taken(used, held, told)


def _sum(amounts: Mapping[str, Amounts], outcomes: Iterable[Outcome]) -> Amounts:
    whole = NOTHING
    for each in outcomes:
        whole = whole.plus(amounts.get(each, NOTHING))
    return whole


def _sign(outcome: str) -> int:
    """Whether it adds to what is held, or takes from it."""
    if outcome in _TAKES:
        return 1
    return 0 if outcome == Outcome.ROLLED_BACK else -1
