"""Offers that are found under one key, in the order of what they give at most. Pure.

Offers with equal terms form a group, which gives the same on a line. A shelf is cut into buckets of prices, each a bit
wider than the last; for each bucket its groups are ranked by what they give at the upper edge, when it is first asked.
"""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.saving import UNBOUND
from abacus.engage.offers.decide.terms import Terms, gates_of_terms

_RATIO: Final = 1.1  # of the edges of a bucket
_FEW: Final = 2  # groups for which one bucket will do
_MANY: Final = 32  # groups that take so long to rank that no first question should have to wait for it
_ORDER: Final = attrgetter("order")
_BOUND: Final = itemgetter(0)


class Bucket(NamedTuple):
    """Amounts from `least` to `most`. With `priced` they are the price of a piece, of which the line has one."""

    number: int
    least: int
    most: int
    priced: bool


def _buckets(*, priced: bool) -> Iterator[Bucket]:
    least, numbers = 0, count(int(priced), 2)
    while least < UNBOUND:
        beyond = min(max(least + 1, int(least * _RATIO)), UNBOUND)
        yield Bucket(next(numbers), least, beyond - 1, priced)
        least = beyond


_BUCKETS: Final = {priced: (*_buckets(priced=priced),) for priced in (False, True)}
_LEAST: Final = [each.least for each in _BUCKETS[True]]
_WHOLE: Final = {priced: Bucket(-1 - int(priced), 0, UNBOUND, priced) for priced in (False, True)}


def bucket_of(amount: int, *, priced: bool) -> Bucket:
    return _BUCKETS[priced][bisect_right(_LEAST, amount) - 1]


def _prices_between(least: int, most: int) -> Iterable[Bucket]:
    return _BUCKETS[True][bisect_right(_LEAST, least) - 1 : bisect_right(_LEAST, most)]


class Group:
    """Offers with equal terms, in the order in which they stand where they save as much."""

    __slots__ = ("formula", "gates", "offers", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.formula = terms.formula
        self.gates = gates_of_terms(terms)
        self.offers: list[Armed] = []

    def admits(self, asked: Asked) -> bool:
        terms = self.terms
        for gate in self.gates:  # noqa: SIM110  # `all` of a generator takes three times as long
            if not gate.opens(terms, asked):
                return False
        return True

    def most(self, bucket: Bucket) -> int:
        """The most that is given in the bucket; 0 where nothing is."""
        most, terms = bucket.most, self.terms
        if bucket.priced:
            if terms.price_from > most or terms.price_below <= bucket.least:
                return 0
            most = min(most, terms.price_below - 1)
        return terms.formula.given(most, most, 1)


def group_of(armed: Armed) -> Group:
    """The offer as a group of its own."""
    group = Group(armed.terms)
    group.offers.append(armed)
    return group


class Ranking:
    """Groups by what they give at most in a bucket, the most first. The bounds are below 0, so that they rise; `first`
    is the first of them, and 0 where no group gives anything. `seen` groups were looked at.
    """

    __slots__ = ("_bucket", "bounds", "first", "groups", "seen")

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.seen = 0
        self.first = 0
        self.bounds = array("q")
        self.groups: list[Group] = []

    def catch_up(self, groups: Mapping[Terms, Group]) -> None:
        """Takes in the groups that came since."""
        came = islice(groups.values(), self.seen, None)
        fresh = [(-most, group) for group in came if (most := group.most(self._bucket))]
        self.seen = len(groups)
        if not self.groups:
            fresh.sort(key=_BOUND)
            self.bounds.extend(bound for bound, _ in fresh)
            self.groups.extend(group for _, group in fresh)
        else:
            for bound, group in fresh:
                place = bisect_left(self.bounds, bound)
                self.bounds.insert(place, bound)
                self.groups.insert(place, group)
        self.first = self.bounds[0] if self.bounds else 0


class Shelf:
    """The offers under one key."""

    __slots__ = ("_behind", "_empty", "_groups", "_rankings", "wide")

    def __init__(self) -> None:
        self.wide: list[Armed] = []  # offers to which other keys lead too
        self._groups: dict[Terms, Group] = {}
        self._empty = 0  # groups whose offers are all gone
        self._rankings: dict[int, Ranking] = {}  # by the numbers of their buckets
        self._behind: dict[int, Ranking] = {}  # of these such as lack groups that came since

    def __bool__(self) -> bool:
        return self._empty < len(self._groups)

    def groups(self) -> Iterable[Group]:
        return self._groups.values()

    def put(self, armed: Armed) -> None:
        group = self._groups.get(armed.terms)
        if group is None:
            group = self._groups[armed.terms] = Group(armed.terms)
            self._behind.update(self._rankings)
            self._rankings.clear()
        elif not group.offers:
            self._empty -= 1
        insort(group.offers, armed, key=_ORDER)
        if armed.is_wide:
            self.wide.append(armed)

    def remove(self, armed: Armed) -> None:
        if armed.is_wide:
            self.wide.remove(armed)
        group = self._groups[armed.terms]
        del group.offers[bisect_left(group.offers, armed.order, key=_ORDER)]
        if group.offers:
            return
        self._empty += 1
        if 2 * self._empty > len(self._groups):
            self._groups = {terms: each for terms, each in self._groups.items() if each.offers}
            self._empty = 0
            self._rankings.clear()
            self._behind.clear()

    def ranking(self, bucket: Bucket) -> Ranking:
        """The groups ranked for amounts of the bucket."""
        return self._rankings.get(bucket.number) or self._ranked(bucket)

    def _ranked(self, bucket: Bucket) -> Ranking:
        if len(self._groups) <= _FEW:
            bucket = _WHOLE[bucket.priced]
        number = bucket.number
        ranking = self._rankings.get(number)
        if ranking is None:
            ranking = self._behind.pop(number) if number in self._behind else Ranking(bucket)
            self._rankings[number] = ranking
            ranking.catch_up(self._groups)
        return ranking

    def warm(self) -> None:
        """Ranks many groups for prices from the least to the greatest sum that their terms name."""
        if len(self._groups) >= _MANY:
            sums = [each for terms in self._groups for each in terms.sums()]
            for bucket in _prices_between(min(sums, default=0), max(sums, default=0)):
                self.ranking(bucket)
