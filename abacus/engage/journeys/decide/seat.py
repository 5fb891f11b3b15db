"""A member's seat in a journey, and what a move does: pure values.

A member who waits is in a pack, with others who wait for the same. The seat itself is written where a member comes in,
waits for an event, or leaves: not at every step.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.actions.types import PlannedAction
from abacus.engage.journeys.decide.visit import Woken
from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.at_least import AtLeast

_AGAIN: Final = timedelta(minutes=1)

Known: TypeAlias = Mapping[str, Value | AtLeast | None]
NOTHING: Final[Known] = MappingProxyType({})


class Seat(NamedTuple):
    """A visit of a member who is inside. `member` is the member's number, and `key` that of the entry, which is done
    once; `value` is that of which there is one visit at a time. `node` and `turn` are there while an event is waited
    for, and `since` says since when. `arm` is that of the last split. `context` and `event`, by which the member came
    in, are JSON.
    """

    member_id: str
    journey: str
    visit: int
    member: int
    version: int
    key: str
    country: str
    entered_at: datetime
    node: int | None
    turn: int | None
    arm: str | None
    since: datetime
    value: str | None
    context: bytes | None
    event: bytes | None


class Seated(NamedTuple):
    """A member who is inside, by its number and the number of its visit, and by its id."""

    member: int
    visit: int
    member_id: str


class Entry(NamedTuple):
    """A member who comes in, under the key of what let the member in, and not if it was inside `at_most` times."""

    member_id: str
    member: int
    journey: str
    version: int
    key: str
    country: str
    value: str | None = None
    context: bytes | None = None
    event: bytes | None = None
    at_most: int = 1_000


class Waits(NamedTuple):
    """A wait that ends at a time. `turn` says how often a loop came back before, and `arm` to which arm of the last
    split the member belongs. `zone` is the zone that the member's clock times are of. Where it `awaits` an event, that
    may end it first; it lasts `since` the member came to the node.
    """

    node: int
    turn: int
    due: datetime
    zone: str
    arm: str | None = None
    awaits: bool = False
    since: datetime | None = None


class Leaves(NamedTuple):
    """The end of a visit, with its reason."""

    why: str


class Arrived(NamedTuple):
    """A member who is to go on from a node: the wait there is over, by its time or by the event. An event may end a
    visit at any time: nothing says then for what else the member waited. Who comes in has not waited, and is not `due`.
    """

    seat: Seat
    node: int | None
    turn: int | None
    arm: str | None = None
    event: Event | None = None
    due: datetime | None = None

    @property
    def enters(self) -> bool:
        return self.due is None and self.event is None

    @property
    def woken(self) -> Woken:
        if self.event is not None:
            return Woken.EVENT
        return Woken.ENTERED if self.enters else Woken.DUE


class Moved(NamedTuple):
    """The nodes that a member went through, in their order, what is done for the member there, and what comes then; and
    why deeds at these nodes are not done, where they are not. `to` is the arm into which a split has sent the member on
    the way, or before. `looked_up` has the values by which it was decided.
    """

    arrived: Arrived
    path: tuple[int, ...]
    actions: Sequence[PlannedAction]
    then: Waits | Leaves
    not_done: str | None = None
    to: str | None = None
    looked_up: Known = NOTHING

    @property
    def arm(self) -> str | None:
        """The arm of the last split, on the way or before."""
        return self.to or self.arrived.arm

    @property
    def stays(self) -> bool:
        """Whether the member waits on for the same, after an event that did not end the wait: the pack is there."""
        arrived, then = self.arrived, self.then
        is_same = isinstance(then, Waits) and (then.node, then.turn) == (arrived.node, arrived.turn)
        return is_same and arrived.event is not None


def waits_on(arrived: Arrived, now: datetime) -> Moved:
    """Whose time has come is looked at again a little later."""
    seat = arrived.seat
    assert arrived.node is not None  # noqa: S101  # its time has come there
    is_awaited = seat.node is not None
    waits = Waits(arrived.node, arrived.turn or 0, now + _AGAIN, "UTC", arrived.arm, is_awaited, seat.since)
    return Moved(arrived, (), (), waits)


class Party(NamedTuple):
    """Members of one version who are to go on from a node together, because a time has come."""

    journey: str
    version: int
    node: int
    turn: int
    arm: str | None
    due: datetime
    seats: Sequence[Seated]


class Done(NamedTuple):
    """What is done for members at a node: the deed there, in a turn of a loop and in an arm."""

    node: int
    turn: int
    arm: str | None


class Went(NamedTuple):
    """Members of a party who went the same way: as `Moved` for many. What was `looked_up` is told for each of them, or
    not at all.
    """

    party: Party
    seats: Sequence[Seated]
    path: tuple[int, ...]
    done: Sequence[Done]
    then: Waits | Leaves
    not_done: str | None = None
    arm: str | None = None
    looked_up: Sequence[Known] = ()

    @property
    def is_written(self) -> bool:
        """Whether the seats are written after the move: also where a split has sent members into another arm."""
        return isinstance(self.then, Leaves) or self.then.awaits or self.arm != self.party.arm


class Parting(NamedTuple):
    """What becomes of parties: members went on together, and others have to be moved each by itself."""

    went: Sequence[Went]
    singly: Sequence[Seated]


# Moves members on who go together, as far as that is possible. Raises `Unavailable`.
GoTogether: TypeAlias = Callable[[Sequence[Party], datetime], Awaitable[Parting]]


async def each_by_itself(parties: Sequence[Party], _: datetime) -> Parting:
    """Nobody goes together."""
    return Parting((), [seat for each in parties for seat in each.seats])


# Moves members of a journey on to their next waits: a move for each whom the event or the time moves, in their order.
# Raises `Unavailable`.
Go: TypeAlias = Callable[[str, Sequence[Arrived], datetime], Awaitable[Sequence[Moved]]]
