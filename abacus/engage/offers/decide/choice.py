"""The best offers for an item, and the offers that came close. Pure."""

from bisect import bisect_left
from typing import Final, NamedTuple

from abacus.engage.offers.decide.armed import Armed, Rank
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.asker import Asker, Question, Wanted
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.refusal import Refusal, failures, near_misses, refusal
from abacus.engage.offers.decide.shelf import Group, Ranking, group_of

NEXT_BEST: Final = 2  # offers beside the best
_ALL: Final = 10**9


class Found(NamedTuple):
    """An offer that fits an item: what it saves on the line, in the smallest units of the currency, or the points that
    it gives. `worth` is what it is compared by, in the smallest units of the currency.
    """

    offer: Offer
    saves: int
    points: int
    worth: int


class Choice(NamedTuple):
    """The best offer for an item, the next ones in order, and the offers that came close, where those were asked for.
    `is_uncertain` says that an offer was left out because a value cannot be told now.
    """

    best: Found | None
    others: tuple[Found, ...] = ()
    refused: tuple[Refusal, ...] = ()
    is_uncertain: bool = False

    def fitting(self) -> tuple[Found, ...]:
        """The best offer and the others."""
        return () if self.best is None else (self.best, *self.others)


def best(index: OfferIndex, asker: Asker, question: Question, *, explain: bool = False) -> Choice | Wanted:
    """The best offer and the next best. Offers that cannot save as much are not looked at."""
    return _choice(index, asker, question, 1 + NEXT_BEST, explain=explain)


def every(index: OfferIndex, asker: Asker, question: Question, *, explain: bool = False) -> Choice | Wanted:
    """All offers that fit, in order."""
    return _choice(index, asker, question, _ALL, explain=explain)


def judge(armed: Armed, asked: Asked) -> Found | Refusal | Wanted:
    """One offer by itself: what it gives, or the first condition that failed."""
    group = group_of(armed)
    if asked.is_in_scope(armed.offer.scope):
        failed = next(iter(failures(group, asked)), None) or next(
            (gate.reason for gate in armed.gates if not gate.opens(armed, asked)), None
        )
    else:
        failed = Reason.SCOPE
    if asked.wanted:
        return Wanted(frozenset(asked.wanted))
    return _found(armed, asked) if failed is None else refusal(failed, armed, asked)


def _choice(index: OfferIndex, asker: Asker, question: Question, most: int, *, explain: bool) -> Choice | Wanted:
    asked = index.ask(asker, question)
    shortlist = _Shortlist(most)
    for group in index.admitted(asked):
        shortlist.look_at(group, asked)
    for ranking in index.rankings(asked):
        shortlist.walk(ranking, asked)
    is_uncertain = asked.is_uncertain
    refused = tuple(near_misses(index, asked)) if explain else ()
    if asked.wanted:
        return Wanted(frozenset(asked.wanted))
    found = [_found(armed, asked) for armed in shortlist.armed]
    return Choice(found[0] if found else None, tuple(found[1:]), refused, is_uncertain)


def _found(armed: Armed, asked: Asked) -> Found:
    formula = armed.terms.formula
    given = asked.given(formula)
    worth, _ = asked.rank_of(given, in_points=formula.in_points)
    return Found(armed.offer, 0 if formula.in_points else given, given if formula.in_points else 0, -worth)


class _Shortlist:
    """The best offers so far, in order, and at most so many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ranks: list[Rank] = []
        self.armed: list[Armed] = []

    def walk(self, ranking: Ranking, asked: Asked) -> None:
        """Looks at groups until even the most that they give is less than what the last offer of a full list gives."""
        ranks = self._ranks
        for bound, group in zip(ranking.bounds, ranking.groups, strict=True):
            if len(ranks) == self._most:
                highest = asked.rank_of(-bound, in_points=group.terms.formula.in_points)
                if highest > ranks[-1][:2]:
                    return
            self.look_at(group, asked)

    def look_at(self, group: Group, asked: Asked) -> None:
        formula = group.terms.formula
        given = asked.given(formula)
        if not given or not group.admits(asked):
            return
        rank = asked.rank_of(given, in_points=formula.in_points)
        for armed in group.offers:
            if self._is_beyond((*rank, armed.order)):
                return
            if armed.admits(asked):
                self._add((*rank, armed.order), armed)

    def _is_beyond(self, rank: Rank) -> bool:
        return len(self._ranks) == self._most and rank > self._ranks[-1]

    def _add(self, rank: Rank, armed: Armed) -> None:
        """An offer that is found by two keys is there once."""
        place = bisect_left(self._ranks, rank)
        if place < len(self._ranks) and self._ranks[place] == rank:
            return
        self._ranks.insert(place, rank)
        self.armed.insert(place, armed)
        if len(self._ranks) > self._most:
            self._ranks.pop()
            self.armed.pop()
