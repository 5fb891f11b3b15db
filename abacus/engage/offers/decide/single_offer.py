"""The offer that saves most on a basket by itself. Pure.

The groups under a key are looked at in the order of what they give at most on each line that has the key, until no
other one can give as much on all of these lines. Offers that lines have by different keys are looked at one by one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from abacus.engage.offers.decide.armed import Armed, Rank
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.basket_lines import BasketLines, Use
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.shelf import Group, Ranking


def single_offer(index: OfferIndex, lines: BasketLines) -> Sequence[Use]:
    """The uses of the best offer; none where no offer fits."""
    best = _Best(lines)
    for armed in {each.number: each for each in _one_by_one(index, lines)}.values():
        best.look_at(armed)
    walks = [
        _Walk(asked, rankings, lines.suits, in_points=in_points)
        for in_points in (False, True)
        for key, asked in lines.by_key.items()
        if (rankings := index.rankings(asked, key, in_points=in_points))
    ]
    for walk in sorted(walks, key=lambda each: each.most(0)):
        walk.go(best)
    return best.uses


def _one_by_one(index: OfferIndex, lines: BasketLines) -> Iterator[Armed]:
    for asked in lines.asked:
        for group in index.admitted(asked):
            yield from group.offers
    wide = [each for key, asked in lines.by_key.items() for each in index.wide(asked[0], key)]
    times = Counter(each.number for each in wide)
    yield from (each for each in wide if times[each.number] > 1)


class _Best:
    """The best offer so far."""

    def __init__(self, lines: BasketLines) -> None:
        self._lines = lines
        self._rank: Rank | None = None
        self.uses: Sequence[Use] = ()

    def is_beyond(self, most: tuple[int, int]) -> bool:
        """Whether an offer that gives no more than this cannot be as good; ranks are the lower the better."""
        return most == (0, 0) or (self._rank is not None and most > self._rank[:2])

    def look_at_group(self, group: Group, most: tuple[int, int]) -> None:
        if not self.is_beyond(most):
            for armed in group.offers:
                if self._rank is not None and (*most, armed.order) >= self._rank:
                    return
                self.look_at(armed)

    def look_at(self, armed: Armed) -> None:
        uses = self._lines.uses(armed)
        worth = sum(each.found.worth for each in uses)
        points = sum(each.found.points for each in uses if not each.found.worth)
        rank = -worth, -points, armed.order
        if uses and (self._rank is None or rank < self._rank):
            self._rank, self.uses = rank, uses


class _Walk:
    """The groups under a key, ranked for each line that has it."""

    def __init__(
        self, lines: Sequence[Asked], rankings: Sequence[Ranking], suits: Callable[[Armed], bool], *, in_points: bool
    ) -> None:
        self._lines = lines
        self._rankings = rankings
        self._suits = suits
        self._in_points = in_points

    def most(self, depth: int) -> tuple[int, int]:
        """The rank of a group from this place on that gives the most on each line."""
        bounds = (each.bounds[depth] if depth < len(each.bounds) else 0 for each in self._rankings)
        return self._together(-bound for bound in bounds)

    def go(self, best: _Best) -> None:
        seen, depth = set[Group](), 0
        while not best.is_beyond(self.most(depth)):
            for ranking in self._rankings:
                if depth < len(ranking.groups) and (group := ranking.groups[depth]) not in seen:
                    seen.add(group)
                    if any(map(self._suits, group.offers)):
                        formula = group.formula
                        given = (each.given(formula) if group.admits(each) else 0 for each in self._lines)
                        best.look_at_group(group, self._together(given))
            depth += 1

    def _together(self, given: Iterable[int]) -> tuple[int, int]:
        """The rank of so much on each line."""
        if not self._in_points:
            return -sum(given), 0
        ranks = [asked.rank_of(each, in_points=True) for asked, each in zip(self._lines, given, strict=True)]
        return sum(worth for worth, _ in ranks), sum(points for _, points in ranks)
