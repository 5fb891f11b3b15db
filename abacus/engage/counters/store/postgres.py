"""Counters in Postgres: sets of rows at a time, in partitions by time."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Final, TypeVar

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.counters.store.partitions import MOST, Partitions
from abacus.engage.counters.types import Count, Row, RowKey, SlotRange
from abacus.platform.postgres import DEPENDENCY, Pool, array, column, passing_failures
from abacus.platform.sql import Statement, arrays

_AT_ONCE: Final = 10_000  # rows of a statement
_TIMES: Final = 3


# The keys of a slot and writer are looked up together; `offset 0` keeps the planner from joining whole partitions.
_LOAD: Final = Statement(f"""
select r.key, g.slot, g.writer, r.count, r.upto
from unnest({array("slots", "integer")}, {array("writers", "bigint")}, {array("firsts", "integer")},
    {array("lasts", "integer")}) as g (slot, writer, first, last)
cross join (select :keys::text[] as keys offset 0) k
cross join lateral (
    select key, count, upto from counter_row
    where slot = g.slot and writer = g.writer and key = any(k.keys[g.first : g.last]) offset 0
) r
""")

# Sorted, so that two who save the same rows wait for each other and never in a circle.
_SAVE: Final = Statement(f"""
insert into counter_row as r (key, slot, writer, count, upto)
select distinct on (key, slot, writer) u.*
from unnest(:keys::text[], {array("slots", "integer")}, {array("writers", "bigint")},
    {array("counts", "bigint")}, {array("uptos", "bigint")}) as u (key, slot, writer, count, upto)
order by key, slot, writer, upto desc
on conflict (key, slot, writer) do update set count = excluded.count, upto = excluded.upto where excluded.upto > r.upto
""")

_SUMS: Final = Statement("""
select coalesce(r.sum, 0)::bigint
from unnest(:key::text[], :first::integer[], :end::integer[]) with ordinality as u (key, first, "end", number)
cross join lateral (
    select sum(count) from counter_row where key = u.key and slot >= u.first and slot < u."end"
) r
order by u.number
""")

_Any = TypeVar("_Any")


class PostgresCounterStore:
    """`CounterStore` in the ledger's database. Its pool best has the settings `LOOKUPS_BY_KEY`.

    A row whose `until` has passed by the clock is not saved. `partitions.tend` has to run beside the writers.
    """

    def __init__(self, pool: Pool, clock: Clock, *, most_partitions: int = MOST) -> None:
        self._pool = pool
        self._clock = clock
        self.partitions: Final = Partitions(pool, clock, most=most_partitions)

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        found: dict[RowKey, Count] = {}
        for some in _stretches(keys):
            async with passing_failures():
                rows = await self._pool.fetch(*_LOAD(**_grouped(some)))
            found.update((RowKey(key, slot, writer), Count(count, upto)) for key, slot, writer, count, upto in rows)
        return found

    async def save(self, rows: Sequence[Row]) -> None:
        now = self._clock.now().timestamp()
        for some in _stretches([row for row in rows if row.until > now]):
            await self._save(some)

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        sums: list[int] = []
        for some in _stretches(ranges):
            async with passing_failures():
                sums += [row[0] for row in await self._pool.fetch(*_SUMS(**arrays(SlotRange, some)))]
        return sums

    async def _save(self, rows: Sequence[Row]) -> None:
        values = {
            "keys": [row.key.key for row in rows],
            "slots": column(row.key.slot for row in rows),
            "writers": column(row.key.writer for row in rows),
            "counts": column(row.count.count for row in rows),
            "uptos": column(row.count.upto for row in rows),
        }
        untils: dict[int, int] = {}
        for (_, slot, _), _, until in rows:
            if untils.get(slot, 0) < until:
                untils[slot] = until
        for _ in range(_TIMES):
            await self.partitions.hold(untils)
            try:
                async with passing_failures():
                    await self._pool.execute(*_SAVE(**values))
            except asyncpg.CheckViolationError:  # a partition was dropped since this process last looked
                await self.partitions.look()
            else:
                return
        raise Unavailable(DEPENDENCY, "partitions of counters are dropped as soon as they are made")


def _grouped(places: Sequence[RowKey]) -> dict[str, object]:
    """The values for `_LOAD`: the keys of each slot and writer, one after another, and where each of these begins and
    ends.
    """
    groups: dict[tuple[int, int], list[str]] = {}
    for key, slot, writer in places:
        groups.setdefault((slot, writer), []).append(key)
    lasts = list(accumulate(map(len, groups.values())))
    return {
        "slots": column(slot for slot, _ in groups),
        "writers": column(writer for _, writer in groups),
        "firsts": column(1 + last for last in (0, *lasts[:-1])),
        "lasts": column(lasts),
        "keys": list(chain.from_iterable(groups.values())),
    }


def _stretches(rows: Sequence[_Any]) -> Iterator[Sequence[_Any]]:
    for begin in range(0, len(rows), _AT_ONCE):
        yield rows[begin : begin + _AT_ONCE]
