"""What rooms add up by day themselves, told as series too: under keys such as `@campaign:NAME:done`."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from abacus.core.fields import quoted
from abacus.signals.counters.reading.types import Days, NotCounted, Why

What: TypeAlias = tuple[str, ...]  # the words behind the name in a key

_MARK: Final = "@"  # no template of a counter has it
_SEPARATOR: Final = ":"


class RoomSums(Protocol):
    """The sums of one room."""

    async def days(self, name: str, asked: Sequence[What]) -> Mapping[What, Days]:
        """What is added up of the document of this name; the rest is left out. Raises `Unavailable`."""


class HouseSums:
    """The sums of the rooms that keys begin with."""

    def __init__(self, rooms: Mapping[str, RoomSums]) -> None:
        self._rooms = rooms

    async def days(self, keys: Sequence[str]) -> Mapping[str, Days | NotCounted]:
        """By the keys that are no counter's. Raises `Unavailable`."""
        own = dict.fromkeys(filter(is_of_room, keys))
        asked: dict[tuple[str, str], dict[What, str]] = {}
        for key in own:
            room, _, rest = key.removeprefix(_MARK).partition(_SEPARATOR)
            name, *what = rest.split(_SEPARATOR)
            if what:
                asked.setdefault((room, name), {})[tuple(what)] = key
        found: dict[str, Days] = {}
        for (room, name), keys_of in asked.items():
            if room in self._rooms:
                days = await self._rooms[room].days(name, list(keys_of))
                found |= {keys_of[what]: each for what, each in days.items()}
        return {key: found.get(key) or _unknown(key) for key in own}


NO_SUMS: Final = HouseSums({})


def is_of_room(key: str) -> bool:
    return key.startswith(_MARK)


def key_of(room: str, name: str, *what: str) -> str:
    """The key under which a room tells this of a document."""
    return _MARK + _SEPARATOR.join((room, name, *what))


def _unknown(key: str) -> NotCounted:
    return NotCounted(Why.UNKNOWN_KEY, f"nothing is added up as {quoted(key)}")
