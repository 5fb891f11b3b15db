"""The offers that save most on a basket together, as far as they may stand beside each other. Pure.

An offer is used once for each line that it fits, and saves on it what it saves alone; together they never save more
than the line. It is either one offer by itself, or offers that may stand beside each other; of these the best ones on
each line are looked at.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asker import Asker, Question, Wanted
from abacus.engage.offers.decide.basket_lines import BasketLines, Use
from abacus.engage.offers.decide.offer import Offer, Stacking
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.shortlist import Shortlist
from abacus.engage.offers.decide.single_offer import single_offer

MOST_EXACT: Final = 12  # offers that stand beside others, of which every combination is looked at
_MOST_ON_A_LINE: Final = 2 * MOST_EXACT  # offers that stand beside others
_MOST_OF_A_GROUP: Final = 3  # that are tried beside others, where not every combination is


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
    asked = [index.ask(asker, each) for each in questions]
    lines = BasketLines(asked)
    alone, beside = single_offer(index, lines), _beside(index, lines)
    if wanted := frozenset().union(*(each.wanted for each in asked)):
        return Wanted(wanted)
    exact = len(beside) <= MOST_EXACT
    basket = _Basket([each.line for each in asked], beside)
    uses = min((alone, *map(basket.settled, _together(basket, list(beside), exact=exact))), key=_rank)
    saves = sum(each.found.saves for each in uses)
    return Combination(tuple(uses), saves, exact, any(each.is_uncertain for each in asked))


def _beside(index: OfferIndex, lines: BasketLines) -> Mapping[Offer, Sequence[Use]]:
    """The uses of offers that may stand beside others: of all, or of the best ones on each line."""
    beside: dict[int, Armed] = {}
    for asked in lines.asked:
        shortlist = Shortlist(_MOST_ON_A_LINE)
        for group in index.admitted(asked):
            if group.offers[0].stands_beside:
                shortlist.look_at(group, asked)
        shortlist.walk(index.in_money(asked, beside=True), asked)
        shortlist.walk_points(index.in_points(asked, beside=True), asked)
        beside |= {armed.number: armed for armed in shortlist.armed}
    uses = {armed.offer: lines.uses(armed) for armed in beside.values()}
    return {offer: each for offer, each in uses.items() if each}


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
    ranked = [sorted((basket.rank([each]), each) for each in group)[:_MOST_OF_A_GROUP] for group in groups.values()]
    for group in sorted(ranked):
        chosen = min(([*chosen, each] for _, each in group), key=basket.rank)
    yield chosen


class _Basket:
    """The lines, and the uses of each offer that fits."""

    def __init__(self, lines: Sequence[int], uses: Mapping[Offer, Sequence[Use]]) -> None:
        self._lines = lines
        self._uses = uses

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
