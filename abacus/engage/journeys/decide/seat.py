"""A member's seat in a journey, and what a move does: pure values.

A member who waits is in a pack, with others who wait for the same. The seat itself is written where a member comes in,
waits for an event, or leaves: not at every step.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias

from abacus.engage.actions.types import PlannedAction
from abacus.signals.events.types import Event


class Seat(NamedTuple):
    """A visit of a member who is inside. `member` is the member's number, and `key` that of the entry, which is done
    once. `node` and `turn` are there while an event is waited for, since `since`. `context` is JSON.
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
    since: datetime
    context: bytes | None


class Entry(NamedTuple):
    """A member who comes in, under the key of what let the member in."""

    member_id: str
    member: int
    journey: str
    version: int
    key: str
    country: str
    context: bytes | None = None


class Waits(NamedTuple):
    """A wait that ends at a time. `turn` says how often a loop came back before. Where it `awaits` an event, that may
    end it first. `zone` is the zone that the member's clock times are of.
    """

    node: int
    turn: int
    due: datetime
    zone: str
    awaits: bool = False


class Left(NamedTuple):
    """The end of a visit, at the node, with its reason."""

    node: int
    why: str


class Arrived(NamedTuple):
    """A member who is to go on from a node: the wait there is over, by its time or by the event. An event may end a
    visit at any time: nothing says then for what else the member waited.
    """

    seat: Seat
    node: int | None
    turn: int | None
    event: Event | None = None


class Moved(NamedTuple):
    """The nodes that a member went through, in their order, what is done for the member there, and what comes then."""

    arrived: Arrived
    path: tuple[int, ...]
    actions: Sequence[PlannedAction]
    then: Waits | Left


# Moves members of a journey on to their next waits: one move for each, in their order. Raises `Unavailable`.
Go: TypeAlias = Callable[[str, Sequence[Arrived], datetime], Awaitable[Sequence[Moved]]]


def effect_key(journey: str, visit: int, member_id: str, node: int, turn: int) -> str:
    """The key of an effect. It has no version: moved to another version, a member is not given the same again."""
    key = f"journey:{journey}:{visit}:{member_id}:{node}"
    return f"{key}.{turn}" if turn else key
