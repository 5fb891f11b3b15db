"""The ways that members went together in a move, and what is counted of them. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import repeat
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.packs import LARGEST, Pack
from abacus.engage.journeys.decide.seat import NOTHING, Arrived, Known, Leaves, Moved, Went
from abacus.engage.journeys.decide.visit import Woken

NOWHERE: Final = 0  # the node of what happened at a wait that nobody could tell


class Outcome(StrEnum):
    """What is counted of members."""

    ENTERED = "entered"  # the journey
    CAME = "came"  # to the node
    PASSED = "passed"  # the node: they went on from there
    LEFT = "left"  # the journey from there, for a reason
    GONE = "gone"  # they were to go on from there, and had left the journey before
    ARMED = "armed"  # they came into the arm of a split
    CONVERTED = "converted"  # they did what the goal is
    MOVED = "moved"  # from there to another version
    LANDED = "landed"  # there, from another version


class Counted(NamedTuple):
    """Members to whom the same happened, at a node and in an arm where these are known."""

    journey: str
    version: int
    node: int
    arm: str
    outcome: Outcome
    why: str = ""


class Way(NamedTuple):
    """From a node, over the nodes of the path, to the next wait, which is there from `turn` on, or to the end. Of who
    is fetched out of a wait that nobody can tell, `node` is None. `arm` is the arm into which the way led.
    """

    journey: str
    version: int
    woken: Woken
    node: int | None
    turn: int | None
    path: tuple[int, ...]
    to: int | None
    why: str | None
    not_done: str | None
    arm: str | None

    @property
    def leads_on(self) -> bool:
        """Whether anything happened: who is looked at again, and waits on at the node, has gone no way."""
        return bool(self.path) or self.to is None or self.woken in {Woken.ENTERED, Woken.MOVED}


class Stood(NamedTuple):
    """The node at which members had waited."""

    journey: str
    version: int
    node: int


@dataclass(slots=True)
class Travellers:
    """Members on a way, by their numbers, and the visit of each and the values that were looked up for it."""

    members: list[int] = field(default_factory=list)
    visits: list[int] = field(default_factory=list)
    looked_up: list[Known] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.members)

    def add(self, member: int, visit: int, looked_up: Known = NOTHING) -> None:
        self.members.append(member)
        self.visits.append(visit)
        self.looked_up.append(looked_up)

    def parts(self) -> Iterator["Travellers"]:
        """As many as a row may have, and as many again."""
        for first in range(0, len(self), LARGEST):
            some = slice(first, first + LARGEST)
            yield Travellers(self.members[some], self.visits[some], self.looked_up[some])


def ways(moved: Iterable[Moved], beside: Iterable[Went] = ()) -> dict[Way, Travellers]:
    """Who went which way: each by itself, and members together."""
    together: dict[Way, Travellers] = {}
    for each in moved:
        seat = each.arrived.seat
        together.setdefault(_way(each), Travellers()).add(seat.member, seat.visit, each.looked_up)
    for went in beside:
        if went.seats:
            travellers = together.setdefault(_way_together(went), Travellers())
            travellers.members += [seat.member for seat in went.seats]
            travellers.visits += [seat.visit for seat in went.seats]
            travellers.looked_up += went.looked_up or repeat(NOTHING, len(went.seats))
    return together


def fetched(journey: str, version: int, node: int | None, turn: int | None, why: str) -> Way:
    """The way of who is taken out of a journey."""
    return Way(journey, version, Woken.EVENT, node, turn, (), None, why, None, None)


def _way(moved: Moved) -> Way:
    arrived, then, seat = moved.arrived, moved.then, moved.arrived.seat
    to, why = (None, then.why) if isinstance(then, Leaves) else (then.node, None)
    return Way(
        seat.journey,
        seat.version,
        arrived.woken,
        arrived.node,
        arrived.turn,
        moved.path,
        to,
        why,
        moved.not_done,
        moved.arm if moved.arm != arrived.arm else None,
    )


def _way_together(went: Went) -> Way:
    party, then = went.party, went.then
    to, why = (None, then.why) if isinstance(then, Leaves) else (then.node, None)
    arm = went.arm if went.arm != party.arm else None
    return Way(
        *(party.journey, party.version, Woken.DUE, party.node, party.turn),
        *(went.path, to, why, went.not_done, arm),
    )


def stood(arrived: Iterable[Arrived]) -> Counter[Stood]:
    """Where members had waited."""
    return Counter(Stood(each.seat.journey, each.seat.version, each.node or NOWHERE) for each in arrived)


def stood_before(ways_of: Mapping[Way, Travellers]) -> Counter[Stood]:
    """The same of members on their ways."""
    found: Counter[Stood] = Counter()
    for way, travellers in ways_of.items():
        found[Stood(way.journey, way.version, way.node or NOWHERE)] += len(travellers)
    return found


def counted(ways_of: Mapping[Way, Travellers]) -> Counter[Counted]:
    """What is counted of them."""
    counts: Counter[Counted] = Counter()
    for way, travellers in ways_of.items():
        for each in _of(way):
            counts[each] += len(travellers)
    return counts


def landings(moved: Iterable[Moved]) -> dict[Way, Travellers]:
    """Who was moved to another version, by where they wait then."""
    together: dict[Way, Travellers] = {}
    for each in moved:
        seat, then = each.arrived.seat, each.then
        to, why = (None, then.why) if isinstance(then, Leaves) else (then.node, None)
        way = Way(seat.journey, seat.version, Woken.MOVED, None, None, (), to, why, None, None)
        together.setdefault(way, Travellers()).add(seat.member, seat.visit)
    return together


def moved_from(arrived: Iterable[Arrived]) -> Counter[Counted]:
    """What is counted of members who are moved to another version, where they had waited."""
    return Counter(
        Counted(each.seat.journey, each.seat.version, each.node or NOWHERE, "", Outcome.MOVED) for each in arrived
    )


def gone_from(packs: Iterable[Pack], there: Counter[Stood]) -> Counter[Counted]:
    """Members of packs that wait for a time alone who were inside no more: who was `there` still was. An event moves
    who waits for it, and that was counted then.
    """
    counts: Counter[Counted] = Counter()
    for each in packs:
        if not each.awaits:
            counts[_gone(each.journey, each.version, each.node)] += len(each.members)
    for stood, members in there.items() if counts else ():
        counts[_gone(*stood)] -= members
    return +counts


def _gone(journey: str, version: int, node: int) -> Counted:
    return Counted(journey, version, node, "", Outcome.GONE)


def _of(way: Way) -> Iterator[Counted]:
    if not way.leads_on:
        return
    if way.woken is Woken.MOVED:
        yield _at(way, way.to, Outcome.LANDED)
        return
    if way.woken is Woken.ENTERED:
        yield _at(way, way.node, Outcome.ENTERED)
    for node in _come_to(way):
        yield _at(way, node, Outcome.CAME)
    for node in way.path if way.to is not None else way.path[:-1]:
        yield _at(way, node, Outcome.PASSED)
    if way.to is None:
        last = way.path[-1] if way.path else way.node
        # Of a fault, which says more behind a colon, only the node is counted.
        yield _at(way, last, Outcome.LEFT)._replace(why=(way.why or "").partition(":")[0])
    if way.arm is not None:
        yield _at(way, NOWHERE, Outcome.ARMED)._replace(arm=way.arm)


def _come_to(way: Way) -> Sequence[int | None]:
    """The nodes to which the way leads: not the one where it begins, unless it is of an entry."""
    places: Sequence[int | None] = way.path if way.to is None else (*way.path, way.to)
    if way.woken is Woken.ENTERED:
        return places or (way.node,)
    return places[1:] if places[:1] == (way.node,) else places


def _at(way: Way, node: int | None, outcome: Outcome) -> Counted:
    return Counted(way.journey, way.version, NOWHERE if node is None else node, "", outcome)
