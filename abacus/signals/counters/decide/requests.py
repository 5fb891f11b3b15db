"""The requests to Cassandra: rows of one partition of the ring travel together. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.types import Grain, Row, RowKey

_AT_ONCE: Final = 50  # rows of a request; Cassandra refuses batches of more than 50 KiB
_LONGEST_TTL_S: Final = 20 * 365 * 86_400
_LAST_SECOND: Final = int(datetime(2038, 1, 18, tzinfo=UTC).timestamp())
FOR_EVER: Final = 0
_OF_REPEATS: Final = range(slot_of(Grain.REPEATS, 0), slot_of(Grain.KEYS, 0))
_OF_KEYS: Final = range(slot_of(Grain.KEYS, 0), slot_of(Grain.MINUTE, 0))
_DIGEST_BYTES: Final = 9
SHARES: Final = 16  # of the list of a counter's keys, each a partition of the ring


class Lookup(NamedTuple):
    """Rows of one partition of the ring: those in any of these slots by any of these writers, as Cassandra has them."""

    key: str
    slots: Sequence[int]
    writers: Sequence[int]


def place_of(row: RowKey) -> RowKey:
    """The primary key of a row in Cassandra.

    The rows that remember events are as many as the events, and a request for each would be most of all requests. So
    a writer's lie together in a few hundred partitions of the ring, by the first byte of a digest, and the rest of the
    digest stands where others have their writer.
    """
    key, slot, writer = row
    if slot not in _OF_REPEATS:
        return row
    digest = blake2b(key.encode(), digest_size=_DIGEST_BYTES).digest()
    return RowKey(f"repeats:{writer}:{digest[0]}", slot, int.from_bytes(digest[1:], signed=True))


class ListedKey(NamedTuple):
    """An entry of the list of keys, and the second until which it is kept. A place is the beginning of the counter's
    keys, a share, and the key.
    """

    place: tuple[str, int, str]
    until: int


def listed(rows: Iterable[Row]) -> list[Sequence[ListedKey]]:
    """The entries of rows that remember keys; entries of one partition of the ring stand together."""
    groups: dict[tuple[str, int], list[ListedKey]] = {}
    for (key, slot, _), _, until in rows:
        if slot in _OF_KEYS:
            space, share = key[: key.find(":") + 1], blake2b(key.encode()).digest()[0] % SHARES
            groups.setdefault((space, share), []).append(ListedKey((space, share, key), until))
    return [some for group in groups.values() for some in _stretches(group)]


def lookups(places: Iterable[RowKey]) -> list[Lookup]:
    """The requests for rows at these places. Their answers may have other rows, too."""
    slots_of: dict[tuple[str, int], list[int]] = {}
    for key, slot, writer in places:
        slots_of.setdefault((key, writer), []).append(slot)
    writers_of: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for (key, writer), slots in slots_of.items():
        writers_of.setdefault((key, tuple(slots)), []).append(writer)
    return [
        Lookup(key, some_slots, some_writers)
        for (key, slots), writers in writers_of.items()
        for some_slots in _stretches(slots)
        for some_writers in _stretches(writers, _AT_ONCE // len(some_slots))
    ]


def batches(rows: Iterable[Row]) -> list[Sequence[Row]]:
    """The rows at their places; rows of one partition of the ring stand together."""
    groups: dict[str, list[Row]] = {}
    for key, count, until in rows:
        place = place_of(key)
        groups.setdefault(place.key, []).append(Row(place, count, until))
    return [some for group in groups.values() for some in _stretches(group)]


def ttl(until: int, now: int) -> int:
    """For how many seconds Cassandra shall keep a row. It takes no time beyond 2038 and none beyond 20 years: what is
    kept for longer is kept for ever.
    """
    seconds = until - now
    return FOR_EVER if until > _LAST_SECOND or seconds > _LONGEST_TTL_S else seconds


def timestamp_of(upto: int) -> int:
    """The timestamp of a write: the row that counted further wins, whenever it is written."""
    return upto + 1


def upto_of(timestamp: int) -> int:
    return timestamp - 1


_Any = TypeVar("_Any")


def _stretches(items: Iterable[_Any], most: int = _AT_ONCE) -> Iterator[Sequence[_Any]]:
    rest = iter(items)
    while some := list(islice(rest, most)):
        yield some
