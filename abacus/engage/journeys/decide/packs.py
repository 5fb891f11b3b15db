"""Members who wait for the same at the same time, in packs: a row for up to five hundred of them. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeVar

from abacus.engage.journeys.decide.seat import Seat, Waits

LARGEST: Final = 500
TOGETHER: Final = 8 * LARGEST  # members who are moved in one transaction, if they need not go each by itself
_SECOND: Final = timedelta(seconds=1)
_IDS: Final = 1 << 63


class Place(NamedTuple):
    """What the members of a pack have in common. Waits that an event may end are taken apart from others."""

    journey: str
    awaits: bool
    version: int
    node: int
    turn: int
    zone: str
    arm: str | None


class Pack(NamedTuple):
    """Members by their numbers, in order, and the visit of each. The other fields are as in `Place`."""

    journey: str
    awaits: bool
    version: int
    node: int
    turn: int
    zone: str
    arm: str | None
    due: datetime
    id: int
    members: Sequence[int]
    visits: Sequence[int]


class Waiting(NamedTuple):
    """Members of one version who wait for the same, by their numbers and visits."""

    journey: str
    version: int
    waits: Waits
    seats: Sequence[tuple[int, int]]


One = TypeVar("One")


def parts(many: Sequence[One]) -> Iterator[Sequence[One]]:
    """As many as a row may have, and as many again."""
    return (many[first : first + LARGEST] for first in range(0, len(many), LARGEST))


def packed(waiting: Iterable[tuple[Seat, Waits]], random: Callable[[], float]) -> Iterator[Pack]:
    """The packs of members who wait, each due in the second after their time: nobody goes on too early. Within that
    second packs are spread by chance, by numbers from 0 to below 1, so that not all are due at one instant.
    """
    alike: dict[tuple[str, int, Waits], list[tuple[int, int]]] = {}
    for seat, waits in waiting:
        alike.setdefault((seat.journey, seat.version, waits), []).append((seat.member, seat.visit))
    return packed_alike((Waiting(*each, seats) for each, seats in alike.items()), random)


def packed_alike(waiting: Iterable[Waiting], random: Callable[[], float]) -> Iterator[Pack]:
    """The same of members who are told together."""
    for (place, second), seats in _groups(waiting).items():
        seats.sort()
        for some in parts(seats):
            members, visits = zip(*some, strict=True)
            yield Pack(*place, second + random() * _SECOND, int(random() * _IDS), members, visits)


def _groups(waiting: Iterable[Waiting]) -> dict[tuple[Place, datetime], list[tuple[int, int]]]:
    """Numbers of members, and their visits, by what they wait for and the second of it."""
    groups: dict[tuple[Place, datetime], list[tuple[int, int]]] = {}
    for journey, version, (node, turn, due, zone, arm, awaits, _), seats in waiting:
        place = Place(journey, awaits, version, node, turn, zone, arm)
        groups.setdefault((place, _second_from(due)), []).extend(seats)
    return groups


def _second_from(at: datetime) -> datetime:
    """The second that begins at the time, or next."""
    return at.replace(microsecond=0) + _SECOND if at.microsecond else at
