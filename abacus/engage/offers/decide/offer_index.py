"""The offers in force, found by country and by what an item is. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, Protocol

from abacus.core.codes import normalized
from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.keys import Key
from abacus.engage.offers.decide.line_up import LineUp, LineUps
from abacus.engage.offers.decide.offer import Audience, Offer
from abacus.engage.offers.decide.saving import Formula
from abacus.engage.offers.decide.shelf import Bucket, Group, Ranking, Shelf, bucket_of, group_of
from abacus.signals.rules.decide.types import Rule

_FIRST: Final = attrgetter("first")
_NONE_APART: Final[frozenset[int]] = frozenset()


class _Shelves:
    """Offers by key, in money and in points."""

    __slots__ = ("money", "points")

    def __init__(self) -> None:
        self.money: dict[Key, Shelf] = {}
        self.points: dict[Key, Shelf] = {}

    def put(self, armed: Armed, keys: Iterable[Key]) -> None:
        shelves = self.of(in_points=armed.terms.formula.in_points)
        for key in keys:
            if key not in shelves:
                shelves[key] = Shelf()
            shelves[key].put(armed)

    def remove(self, armed: Armed, keys: Iterable[Key]) -> None:
        shelves = self.of(in_points=armed.terms.formula.in_points)
        for key in keys:
            shelves[key].remove(armed)
            if not shelves[key]:
                del shelves[key]

    def of(self, *, in_points: bool) -> dict[Key, Shelf]:
        return self.points if in_points else self.money


class _Market:
    """The offers of one country in one currency: those for all members, of these such as stand beside others in a
    basket, and those for some members.
    """

    __slots__ = ("_admitted", "_apart", "_in_points", "_line_ups", "_most_points", "apart", "beside", "for_all")

    def __init__(self, line_ups: LineUps) -> None:
        self._line_ups = line_ups
        self.for_all = _Shelves()
        self.beside = _Shelves()
        self.apart: dict[Key, set[int]] = {}
        self._apart: dict[int, tuple[Key, ...]] = {}  # the same by number
        self._admitted: tuple[frozenset[int], Mapping[Key, Sequence[int]]] = _NONE_APART, {}  # as asked last
        self._in_points: set[Formula] = set()  # of all offers that there ever were
        self._most_points: dict[int, int] = {}  # that these give, by the numbers of buckets

    def put(self, armed: Armed) -> None:
        formula, keys = armed.terms.formula, (*armed.places(),)
        if formula.in_points and formula not in self._in_points:
            self._in_points.add(formula)
            self._most_points.clear()
        if armed.is_apart:
            self._apart[armed.number] = keys
            self._admitted = _NONE_APART, {}
            for key in keys:
                self.apart.setdefault(key, set()).add(armed.number)
            return
        self.for_all.put(armed, keys)
        self._line_ups.change(keys)
        if armed.stands_beside:
            self.beside.put(armed, keys)

    def remove(self, armed: Armed) -> None:
        if armed.is_apart:
            self._admitted = _NONE_APART, {}
            for key in self._apart.pop(armed.number):
                self.apart[key].remove(armed.number)
                if not self.apart[key]:
                    del self.apart[key]
            return
        keys = (*armed.places(),)
        self.for_all.remove(armed, keys)
        self._line_ups.change(keys)
        if armed.stands_beside:
            self.beside.remove(armed, keys)

    def most_points(self, bucket: Bucket) -> int:
        """No offer gives more in the bucket."""
        most = self._most_points.get(bucket.number)
        if most is None:
            given = (each.given(bucket.most, bucket.most, 1) for each in self._in_points)
            most = self._most_points[bucket.number] = max(given, default=0)
        return most

    def admitted(self, numbers: frozenset[int]) -> Mapping[Key, Sequence[int]]:
        """Of these offers the ones for some members, by key: found once for all items of a request."""
        if self._admitted[0] is not numbers:
            found: dict[Key, list[int]] = {}
            for number in numbers:
                for key in self._apart.get(number, ()):
                    found.setdefault(key, []).append(number)
            self._admitted = numbers, found
        return self._admitted[1]


class IndexListener(Protocol):
    """Hears what changes in an index, once it has changed."""

    def came(self, armed: Armed) -> None: ...
    def left(self, armed: Armed) -> None: ...
    def spent(self, armed: Armed) -> None:
        """Its budget is gone, or there is some again."""


class OfferIndex:
    """The offers in force, by number, each in one version. A change costs as much as the offer that it is about.

    `spent` has the numbers of offers whose budget is gone; the owner of the index sets it.
    """

    def __init__(self) -> None:
        self._spent: Collection[int] = _NONE_APART
        self._listeners: list[IndexListener] = []
        self._armed: dict[int, Armed] = {}
        self._by_invitation: frozenset[int] | None = None
        self._line_ups = LineUps()
        self._markets: dict[tuple[str, str], _Market] = {}
        self._names: dict[str, Armed] = {}
        self._codes: dict[tuple[str, str], Armed] = {}

    def __len__(self) -> int:
        return len(self._armed)

    def __iter__(self) -> Iterator[Armed]:
        return iter(self._armed.values())

    def put(self, offer: Offer, rule: Rule | None) -> None:
        """From now on this version of the offer is in force, and none before it. `rule` is that of `offer.when`."""
        self.remove(offer.number)
        armed = Armed(offer, rule)
        self._armed[armed.number] = self._names[offer.name] = armed
        if offer.audience is Audience.INVITATION:
            self._by_invitation = None
        if offer.audience is Audience.CODE and offer.code is not None:
            self._codes[offer.country, normalized(offer.code)] = armed
        place = offer.country, offer.currency
        if place not in self._markets:
            self._markets[place] = _Market(self._line_ups)
        self._markets[place].put(armed)
        for each in self._listeners:
            each.came(armed)

    def remove(self, number: int) -> None:
        """Leaves out the offer with this number, if there is any."""
        armed = self._armed.pop(number, None)
        if armed is None:
            return
        offer = armed.offer
        if offer.audience is Audience.INVITATION:
            self._by_invitation = None
        del self._names[offer.name]
        if offer.code is not None:
            place = offer.country, normalized(offer.code)
            if self._codes.get(place) is armed:
                del self._codes[place]
        self._markets[offer.country, offer.currency].remove(armed)
        for each in self._listeners:
            each.left(armed)

    @property
    def spent(self) -> Collection[int]:
        return self._spent

    @spent.setter
    def spent(self, numbers: Collection[int]) -> None:
        before, self._spent = self._spent, numbers
        if self._listeners:
            for number in {*before} ^ {*numbers}:
                if (armed := self._armed.get(number)) is not None:
                    for each in self._listeners:
                        each.spent(armed)

    def hear(self, listener: IndexListener) -> None:
        """From now on the listener hears each change; it knows what is there already."""
        self._listeners.append(listener)

    def warm(self) -> None:
        """Ranks the offers in money for the prices that they speak of, so that no first question has to."""
        for market in self._markets.values():
            for shelf in market.for_all.money.values():
                shelf.warm()

    def by_invitation(self) -> frozenset[int]:
        """The numbers of all offers by invitation. Every offer is looked at after one of these has changed."""
        if self._by_invitation is None:
            numbers = (each.number for each in self if each.offer.audience is Audience.INVITATION)
            self._by_invitation = frozenset(numbers)
        return self._by_invitation

    def named(self, name: str) -> Armed | None:
        return self._names.get(name)

    def by_code(self, country: str, code: str) -> Armed | None:
        """The offer with this public code, as it was typed."""
        return self._codes.get((country, normalized(code)))

    def ask(self, asker: Asker, question: Question) -> Asked:
        return Asked(asker, question, self._spent)

    def line_up(self, asked: Asked) -> LineUp | None:
        """The offers in money that may fit, in their order; None for an item that nobody has asked for lately."""
        return self._line_ups.of(asked, self.in_money)

    def in_money(self, asked: Asked, *, beside: bool = False) -> list[Ranking]:
        """The groups in money that may fit, ranked under each key of the item; what may save most comes first. Offers
        that stand `beside` others in a basket are ranked apart, too.
        """
        market = self._market(asked)
        if market is None:
            return []
        shelves = market.beside if beside else market.for_all
        return _ranked(shelves.money, asked.keys, _bucket(asked, in_points=False))

    def most_points(self, asked: Asked) -> int:
        """No offer gives more points for a purchase like this; 0 where none gives any."""
        market = self._market(asked)
        return market.most_points(_bucket(asked, in_points=True)) if market is not None else 0

    def in_points(self, asked: Asked, *, beside: bool = False) -> list[Ranking]:
        """The same for groups in points."""
        market = self._market(asked)
        if market is None:
            return []
        shelves = market.beside if beside else market.for_all
        return _ranked(shelves.points, asked.keys, _bucket(asked, in_points=True))

    def rankings(self, lines: Sequence[Asked], key: Key, *, in_points: bool) -> list[Ranking]:
        """The groups under a key that all of these lines have, ranked for each line."""
        market = self._market(lines[0])
        shelf = market.for_all.of(in_points=in_points).get(key) if market is not None else None
        return [] if shelf is None else [shelf.ranking(_bucket(each, in_points=in_points)) for each in lines]

    def wide(self, asked: Asked, key: Key) -> Iterator[Armed]:
        """The offers under a key to which other keys lead too."""
        if (market := self._market(asked)) is not None:
            for shelves in (market.for_all.money, market.for_all.points):
                if key in shelves:
                    yield from shelves[key].wide

    def groups(self, asked: Asked) -> Iterator[Group]:
        """All groups under the keys of the item that are for all members."""
        if (market := self._market(asked)) is not None:
            for key in asked.keys:
                for shelves in (market.for_all.money, market.for_all.points):
                    if key in shelves:
                        yield from shelves[key].groups()

    def apart(self, asked: Asked) -> Iterator[Group]:
        """All offers under these keys that are for some members, each of them alone."""
        if (market := self._market(asked)) is not None:
            for key in asked.keys:
                for number in market.apart.get(key, _NONE_APART):
                    yield group_of(self._armed[number])

    def admitted(self, asked: Asked) -> Iterator[Group]:
        """The offers for the item by invitation and by code, to which the asker is admitted, each of them alone."""
        market, admitted = self._market(asked), asked.asker.admitted
        if market is None or not admitted:
            return
        there = market.admitted(admitted)
        if there.keys().isdisjoint(asked.keys):
            return
        for key in asked.keys:
            for number in there.get(key, ()):
                yield group_of(self._armed[number])

    def _market(self, asked: Asked) -> _Market | None:
        return self._markets.get((asked.asker.country, asked.item.currency))


def _bucket(asked: Asked, *, in_points: bool) -> Bucket:
    if in_points:
        return bucket_of(asked.question.earns, priced=False)
    return bucket_of(asked.line, priced=asked.pieces == 1)


def _ranked(shelves: Mapping[Key, Shelf], keys: Iterable[Key], bucket: Bucket) -> list[Ranking]:
    rankings = [shelf.ranking(bucket) for key in keys if (shelf := shelves.get(key)) is not None]
    rankings.sort(key=_FIRST)
    return rankings
