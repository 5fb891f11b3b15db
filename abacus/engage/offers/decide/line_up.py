"""The offers in money for an item in their order, kept while the item is asked for again and again. Pure.

What an offer saves on an item, and so the order of the offers, is the same for all askers: what was found for one of
them serves the next. Whether an offer admits an asker is looked at each time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final, NamedTuple

from abacus.engage.offers.decide.armed import Armed, Order
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.keys import Key
from abacus.engage.offers.decide.shelf import Group, Ranking

MOST: Final = 256  # of an item
_REMEMBERED: Final = 10_000  # items
_MOST_CHANGES: Final = 1_000


class InLine(NamedTuple):
    """An offer, what it saves on the item, below 0, and its group."""

    saves: int
    armed: Armed
    group: Group


class LineUp:
    """It is put together out of the rankings under the keys of the item, as far as an asker goes along it."""

    __slots__ = ("_found", "_seen", "_waiting", "rankings")

    def __init__(self, rankings: Sequence[Ranking]) -> None:
        self.rankings = rankings
        self._found: list[InLine] = []
        # Heaps: of each ranking its next group, by the most that it saves; of each group that was looked at its next
        # offer, by what it saves and its order. Then come the ranking and the place.
        self._waiting = [(ranking.first, number, 0) for number, ranking in enumerate(rankings) if ranking.first]
        self._seen: list[tuple[int, Order, int, int, Group]] = []
        heapify(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether there may be others, which are not kept in line."""
        return len(self._found) >= MOST

    def offers(self, asked: Asked) -> Iterator[InLine]:
        """The first ones, `MOST` of them at most; `asked` is about the item."""
        yield from self._found
        while not self.is_full and (found := self._next(asked)) is not None:
            if not self._found or found.armed is not self._found[-1].armed:  # two keys lead to it
                self._found.append(found)
                yield found

    def _next(self, asked: Asked) -> InLine | None:
        self._look_at_groups(asked)
        if not self._seen:
            return None
        saves, _, number, place, group = self._seen[0]
        after = place + 1
        if after < len(group.offers):
            heapreplace(self._seen, (saves, group.offers[after].order, number, after, group))
        else:
            heappop(self._seen)
        return InLine(saves, group.offers[place], group)

    def _look_at_groups(self, asked: Asked) -> None:
        """Until no group that waits can save as much as the next offer."""
        waiting, seen = self._waiting, self._seen
        while waiting and (not seen or waiting[0][0] <= seen[0][0]):
            _, number, place = waiting[0]
            ranking = self.rankings[number]
            group, after = ranking.groups[place], place + 1
            if after < len(ranking.groups):
                heapreplace(waiting, (ranking.bounds[after], number, after))
            else:
                heappop(waiting)
            saves = group.formula.given(asked.line, asked.price, asked.pieces)
            if saves and group.offers:
                heappush(seen, (-saves, group.offers[0].order, number, 0, group))


class _Place:
    """What is kept for an item: its keys, its line-up from the second question on, and of which changes it has seen how
    many.
    """

    __slots__ = ("changes", "keys", "line_up", "seen")

    def __init__(self, *_: object) -> None:
        self.keys: frozenset[Key] | None = None
        self.line_up: LineUp | None = None
        self.changes: Sequence[Key] = ()
        self.seen = 0


class LineUps:
    """The line-ups of the items that were asked for more than once lately."""

    def __init__(self) -> None:
        self._places = lru_cache(_REMEMBERED)(_Place)
        self._changes: list[Key] = []  # under which offers came or went

    def change(self, keys: Iterable[Key]) -> None:
        """An offer comes or goes under these keys."""
        self._changes += keys
        if len(self._changes) > _MOST_CHANGES:
            self._changes = []  # each line-up is made anew when it is asked for: to drop all at once takes long

    def of(self, asked: Asked, ranked: Callable[[Asked], Sequence[Ranking]]) -> LineUp | None:
        """The line-up of the item, made of what is `ranked` under its keys; None when it was not asked for lately."""
        item, changes = asked.item, self._changes
        thing = item.product, item.merchant, item.brand, item.categories, item.place, item.regions
        place = self._places(*thing, item.price, item.quantity, item.currency, asked.asker.country)
        if place.keys is None:
            place.keys = frozenset(asked.keys)
            return None
        if place.changes is not changes or not place.keys.isdisjoint(changes[place.seen :]):
            place.line_up = LineUp(ranked(asked))
            place.changes = changes
        place.seen = len(changes)
        return place.line_up
