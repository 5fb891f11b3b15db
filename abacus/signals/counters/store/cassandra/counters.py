"""Counters in Cassandra or ScyllaDB: the rows of a key lie together, on the servers that have its part of the ring."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.signals.counters.decide.ranking import largest_first
from abacus.signals.counters.decide.requests import (
    SHARES,
    ListedKey,
    Lookup,
    batches,
    listed,
    lookups,
    place_of,
    timestamp_of,
    ttl,
    upto_of,
)
from abacus.signals.counters.store.cassandra import schema
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.types import Count, Row, RowKey, SlotRange, Slots

_LOAD: Final = "select slot, writer, count, writetime(count) from {table} where key = ? and slot in ? and writer in ?"

# Cassandra keeps of two writes the one with the later timestamp, whichever comes first: so `upto` only rises. A write
# at the time of day would outdo all that come after it, and so would a delete.
_SAVE: Final = "update {table} using timestamp ? and ttl ? set count = ? where key = ? and slot = ? and writer = ?"

_ONE: Final = "select writer from {table} where key = ? and slot >= ? and slot < ? limit 1"

_SUM: Final = "select sum(count) from {table} where key = ? and slot >= ? and slot < ?"

_SLOTS: Final = "select slot, sum(count) from {table} where key = ? and slot >= ? and slot < ? group by key, slot"

_REMEMBER: Final = "insert into {keys} (space, share, key) values (?, ?, ?) using ttl ?"

_KEYS: Final = "select key from {keys} where space = ? and share = ? and key > ? limit ?"

_MOST_RANKED: Final = 10_000  # keys: each is a request for each of its ranges


class CassandraCounterStore:
    """`CounterStore` in a keyspace of a cluster. A row whose `until` has passed by the clock is not saved.

    Raises `Refused` at its first use when the table was altered in a way that loses counts.
    """

    def __init__(self, session: Session, keyspace: str, clock: Clock) -> None:
        self._session = session
        self._keyspace = keyspace
        self._clock = clock
        self._is_checked = False
        names = {"table": f"{keyspace}.{schema.TABLE}", "keys": f"{keyspace}.{schema.KEY_TABLE}"}
        self._load, self._save, self._one = (text.format(**names) for text in (_LOAD, _SAVE, _ONE))
        self._sum, self._slots = (text.format(**names) for text in (_SUM, _SLOTS))
        self._remember, self._keys = (text.format(**names) for text in (_REMEMBER, _KEYS))

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        await self._check()
        asked_at = {place_of(key): key for key in keys}
        found: dict[RowKey, Count] = {}

        async def look(asked: Lookup) -> None:
            for slot, writer, count, timestamp in await self._session.fetch(self._load, asked):
                if (key := asked_at.get(RowKey(asked.key, slot, writer))) is not None:
                    found[key] = Count(count, upto_of(timestamp))

        await self._session.each(look, lookups(asked_at))
        return found

    async def save(self, rows: Sequence[Row]) -> None:
        await self._check()
        now = int(self._clock.now().timestamp())

        async def write(together: Sequence[Row]) -> None:
            values = [(timestamp_of(count.upto), ttl(until, now), count.count, *key) for key, count, until in together]
            await self._session.write(self._save, values)

        async def list_(together: Sequence[ListedKey]) -> None:
            await self._session.write(self._remember, [(*each.place, ttl(each.until, now)) for each in together])

        lasting = [row for row in rows if row.until > now]
        await self._session.each(list_, listed(lasting))
        await self._session.each(write, batches(lasting))

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        return [rows[0][0] for rows in await self._of_each(self._sum, ranges)]

    async def slots(self, ranges: Sequence[SlotRange]) -> Sequence[Mapping[int, int]]:
        return [dict(rows) for rows in await self._of_each(self._slots, ranges)]

    async def keys(self, space: str, after: str, most: int) -> Sequence[str]:
        await self._check()
        found: list[str] = []

        async def ask(share: int) -> None:
            found.extend(row[0] for row in await self._session.fetch(self._keys, (space, share, after, most)))

        await self._session.each(ask, range(SHARES))
        return sorted(found)[:most]

    async def top(self, space: str, slots: Sequence[Slots], most: int) -> Sequence[tuple[str, int]]:
        keys = await self.keys(space, "", _MOST_RANKED + 1)
        if len(keys) > _MOST_RANKED:
            raise Refused(f"more than {_MOST_RANKED:,} keys: Cassandra has no order of their sums")
        sums = iter(await self.sums([SlotRange(key, *each) for key in keys for each in slots]))
        of_keys = [(key, sum(next(sums) for _ in slots)) for key in keys]
        return largest_first((each for each in of_keys if each[1]), most)

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        return list(map(bool, await self._of_each(self._one, ranges)))

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        """Each row is on several servers."""
        return {None: ranges}

    async def probes(self) -> Mapping[str | None, SlotRange]:
        return {None: SlotRange("", 0, 0)}

    async def _of_each(self, statement: str, ranges: Sequence[SlotRange]) -> Sequence[list[tuple[Any, ...]]]:
        """The rows of each range, in order."""
        await self._check()
        found: list[list[tuple[Any, ...]]] = [[] for _ in ranges]

        async def ask(number: int) -> None:
            found[number] = await self._session.fetch(statement, ranges[number])

        await self._session.each(ask, range(len(ranges)))
        return found

    async def _check(self) -> None:
        if not self._is_checked:
            await schema.check(self._session, self._keyspace)
            self._is_checked = True
