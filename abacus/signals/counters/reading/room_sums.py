"""What rooms add up by day themselves, told as series too: under keys such as `@campaign:NAME:done`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple, Protocol, TypeAlias
from zoneinfo import ZoneInfo

from abacus.core.fields import quoted
from abacus.signals.counters.reading.types import NotCounted, Why

What: TypeAlias = tuple[str, ...]  # the words behind the name in a key
Counts: TypeAlias = Mapping[date, int]  # without the days on which nothing happened

_MARK: Final = "@"  # no template of a counter has it
_SEPARATOR: Final = ":"


class DocumentSums(Protocol):
    """The sums of one document."""

    @property
    def zone(self) -> ZoneInfo:
        """By whose clock its days are told."""

    def tells(self, what: What) -> bool:
        """Whether this is added up."""

    async def counts(self, asked: Sequence[What], since: date, until: date) -> Mapping[What, Counts]:
        """Of what it tells, on these days, both included. Raises `Unavailable`."""


class RoomSums(Protocol):
    """The sums of one room."""

    async def of(self, name: str) -> DocumentSums | None:
        """Of the document of this name, if there is one. Raises `Unavailable`."""


class Told(NamedTuple):
    """A key of a room: what it asks of whose sums."""

    sums: DocumentSums
    what: What


class HouseSums:
    """The sums of the rooms that keys begin with."""

    def __init__(self, rooms: Mapping[str, RoomSums]) -> None:
        self._rooms = rooms

    async def told(self, keys: Iterable[str]) -> Mapping[str, Told | NotCounted]:
        """By keys of rooms. No sum is read yet. Raises `Unavailable`."""
        documents: dict[tuple[str, str], DocumentSums | None] = {}
        found: dict[str, Told | NotCounted] = {}
        for key in dict.fromkeys(keys):
            room, _, rest = key.removeprefix(_MARK).partition(_SEPARATOR)
            name, *words = rest.split(_SEPARATOR)
            place, what = (room, name), tuple(words)
            if what and room in self._rooms and place not in documents:
                documents[place] = await self._rooms[room].of(name)
            sums = documents.get(place) if what else None
            found[key] = _unknown(key) if sums is None or not sums.tells(what) else Told(sums, what)
        return found


NO_SUMS: Final = HouseSums({})


def is_of_room(key: str) -> bool:
    return key.startswith(_MARK)


def key_of(room: str, name: str, *what: str) -> str:
    """The key under which a room tells this of a document."""
    return _MARK + _SEPARATOR.join((room, name, *what))


async def read(asked: Iterable[tuple[Told, Sequence[date]]]) -> Mapping[Told, Counts]:
    """What was added up on these days. The sums of a document are read once, from the first of all its days to the
    last. Raises `Unavailable`.
    """
    of_documents: dict[DocumentSums, tuple[dict[What, None], set[date]]] = {}
    for (sums, what), days in asked:
        if days:
            whats, within = of_documents.setdefault(sums, ({}, set()))
            whats[what] = None
            within.update(days)
    found: dict[Told, Counts] = {}
    for sums, (whats, within) in of_documents.items():
        counts = await sums.counts(list(whats), min(within), max(within))
        found |= {Told(sums, what): counts[what] for what in whats}
    return found


def _unknown(key: str) -> NotCounted:
    return NotCounted(Why.UNKNOWN_KEY, f"nothing is added up as {quoted(key)}")
