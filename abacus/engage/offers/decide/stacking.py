"""The offers that save most on a basket together, as far as they may stand beside each other. Pure.

An offer is used once for each line that it fits, and saves on it what it saves alone; together they never save more
than the line.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.offers.decide.asker import Asker, Question, Wanted
from abacus.engage.offers.decide.choice import Choice, Found, every
from abacus.engage.offers.decide.offer import Offer, Stacking
from abacus.engage.offers.decide.offer_index import OfferIndex

MOST_EXACT: Final = 12  # offers that stand beside others, of which every combination is looked at


class Use(NamedTuple):
    """An offer on a line: the place of its item in the basket, and what it saves there or the points that it gives."""

    place: int
    found: Found


class Combination(NamedTuple):
    """The uses, what they save in all, and whether no other combination saves more."""

    uses: tuple[Use, ...]
    saves: int
    exact: bool
    is_uncertain: bool = False


def combination(index: OfferIndex, asker: Asker, questions: Sequence[Question]) -> Combination | Wanted:
    """The combination with the greatest saving for a basket; of equal ones, the one with the fewest offers. It is exact
    with at most `MOST_EXACT` offers that may stand beside others.
    """
    answers = [every(index, asker, each) for each in questions]
    wanted = [each.sides for each in answers if isinstance(each, Wanted)]
    if wanted:
        return Wanted(frozenset().union(*wanted))
    choices = [each for each in answers if isinstance(each, Choice)]
    basket = _Basket([each.item.line for each in questions], _uses(choices, asker))
    beside = basket.beside_others()
    exact = len(beside) <= MOST_EXACT
    candidates = [*([each] for each in basket.alone()), *_together(basket, beside, exact=exact)]
    uses = min(map(basket.settled, candidates), key=_rank, default=())
    return Combination(uses, sum(each.found.saves for each in uses), exact, any(each.is_uncertain for each in choices))


def _uses(choices: Sequence[Choice], asker: Asker) -> Mapping[Offer, Sequence[Use]]:
    """The uses of each offer. An offer of which few uses are left is used where it saves most."""
    uses: dict[Offer, list[Use]] = {}
    for place, choice in enumerate(choices):
        for found in choice.fitting():
            uses.setdefault(found.offer, []).append(Use(place, found))
    for offer, each in uses.items():
        each.sort(key=lambda use: (-use.found.worth, -use.found.points, use.place))
        del each[asker.uses_left.get(offer.number, len(each)) :]
    return uses


def _together(basket: "_Basket", beside: Sequence[Offer], *, exact: bool) -> Iterator[Sequence[Offer]]:
    """The combinations of offers that may stand beside others: all that may be the best, or a good one. One more offer
    never makes a combination save less, so that each has one of every group.
    """
    always = [each for each in beside if each.stack.stacking is Stacking.ALWAYS]
    groups: dict[str | None, list[Offer]] = {}
    for each in beside:
        if each.stack.stacking is Stacking.GROUP:
            groups.setdefault(each.stack.group, []).append(each)
    if exact:
        yield from ([*always, *some] for some in product(*groups.values()))
        return
    chosen = always
    for group in sorted(groups.values(), key=lambda group: min(basket.rank([each]) for each in group)):
        chosen = min(([*chosen, each] for each in group), key=basket.rank)
    yield chosen


class _Basket:
    """The lines, and the uses of each offer that fits."""

    def __init__(self, lines: Sequence[int], uses: Mapping[Offer, Sequence[Use]]) -> None:
        self._lines = lines
        self._uses = uses

    def alone(self) -> Iterator[Offer]:
        return (each for each in self._uses if each.stack.stacking is Stacking.ALONE)

    def beside_others(self) -> Sequence[Offer]:
        return [each for each in self._uses if each.stack.stacking is not Stacking.ALONE]

    def rank(self, offers: Sequence[Offer]) -> "_Rank":
        return _rank(self.settled(offers))

    def settled(self, offers: Sequence[Offer]) -> tuple[Use, ...]:
        """The uses of these offers, the greatest saving first. On each line the last one saves what is left."""
        left = list(self._lines)
        settled = []
        for place, found in sorted((use for each in offers for use in self._uses[each]), key=_place):
            saves = min(found.saves, left[place])
            left[place] -= saves
            if saves or found.points:
                worth = found.worth if found.points else saves
                settled.append(Use(place, found._replace(saves=saves, worth=worth)))
        return tuple(settled)


_Rank: TypeAlias = tuple[int, int, int, list[tuple[int, datetime, int]]]


def _rank(uses: Sequence[Use]) -> _Rank:
    """Where a combination stands, the best first: by worth, by points without a worth, by how few offers it has."""
    worth = sum(each.found.worth for each in uses)
    points = sum(each.found.points for each in uses if not each.found.worth)
    offers = {each.found.offer for each in uses}
    return -worth, -points, len(offers), sorted(map(_order, offers))


def _order(offer: Offer) -> tuple[int, datetime, int]:
    return -offer.priority, offer.ends_at, offer.number


def _place(use: Use) -> tuple[int, int, int, tuple[int, datetime, int]]:
    return use.place, -use.found.worth, -use.found.points, _order(use.found.offer)
