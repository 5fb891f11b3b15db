"""The best offers for an item so far. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice

from abacus.engage.offers.decide.armed import Armed, Rank
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.line_up import LineUp
from abacus.engage.offers.decide.shelf import Group, Ranking


class Shortlist:
    """At most so many offers, in order. Groups that cannot come among them any more are passed over."""

    __slots__ = ("_last", "_least", "_most", "armed", "ranks")

    def __init__(self, most: int) -> None:
        self._most = most
        self.ranks: list[Rank] = []
        self._last: Rank | None = None  # of a full list
        self._least = 0  # the rank by worth that an offer needs at least; ranks by worth are below 0
        self.armed: list[Armed] = []

    def walk(self, rankings: Iterable[Ranking], asked: Asked) -> None:
        """Looks at groups in money, until even the most that they save is too little. The first ranking begins with
        the most.
        """
        line, price, pieces = asked.line, asked.price, asked.pieces
        least = self._least
        for way in self._ways(rankings):
            for bound, group in way:
                if bound > least:
                    break
                worth = -group.formula.given(line, price, pieces)
                if worth and worth <= least and group.admits(asked):
                    self._offer(group, worth, 0, asked)
                    least = self._least

    def _ways(self, rankings: Iterable[Ranking]) -> Iterator[Iterable[tuple[int, Group]]]:
        """The first group of each ranking, which most often leaves few others to look at, then the others of each."""
        others = []
        for ranking in rankings:
            if ranking.first > self._least:
                break
            way = zip(ranking.bounds, ranking.groups, strict=True)
            others.append(way)
            yield islice(way, 1)
        yield from others

    def go_along(self, line_up: LineUp, asked: Asked) -> None:
        """Takes offers in money, until there are enough."""
        last = self._last
        for saves, armed, group in line_up.offers(asked):
            rank = saves, 0, armed.order
            if last is not None and rank > last:
                return
            if group.admits(asked) and armed.admits(asked):
                self.add(rank, armed)
                last = self._last
                if last == rank:
                    return
        if line_up.is_full:  # most of them are for others
            self.walk(line_up.rankings, asked)

    def walk_points(self, rankings: Iterable[Ranking], asked: Asked) -> None:
        """The same for groups in points."""
        for ranking in rankings:
            if self.is_beyond_points(-ranking.first, asked):
                return
            for bound, group in zip(ranking.bounds, ranking.groups, strict=True):
                if self.is_beyond_points(-bound, asked):
                    break
                self.look_at(group, asked)

    def is_beyond_points(self, most: int, asked: Asked) -> bool:
        """Whether no offer that gives so many points at most can come among these."""
        return not most or (self._last is not None and asked.rank_of(most, in_points=True) > self._last[:2])

    def look_at(self, group: Group, asked: Asked) -> None:
        formula = group.formula
        given = asked.given(formula)
        worth, points = asked.rank_of(given, in_points=formula.in_points)
        if given and worth <= self._least and group.admits(asked):
            self._offer(group, worth, points, asked)

    def _offer(self, group: Group, worth: int, points: int, asked: Asked) -> None:
        last = self._last
        for armed in group.offers:
            rank = worth, points, armed.order
            if last is not None and rank > last:
                return
            if armed.admits(asked):
                self.add(rank, armed)
                last = self._last

    def add(self, rank: Rank, armed: Armed) -> None:
        """An offer that is found by two keys is there once."""
        ranks = self.ranks
        place = bisect_left(ranks, rank)
        if place < len(ranks) and ranks[place] == rank:
            return
        ranks.insert(place, rank)
        self.armed.insert(place, armed)
        if len(ranks) > self._most:
            ranks.pop()
            self.armed.pop()
        if len(ranks) == self._most:
            self._last = ranks[-1]
            self._least = self._last[0]
