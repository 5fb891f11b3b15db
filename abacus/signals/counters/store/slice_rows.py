"""The rows of counters in one slice: sets of rows at a time, in partitions by time."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from typing import Final, NamedTuple, TypeVar

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.platform.postgres import DEPENDENCY, Connection
from abacus.platform.slices import Slice
from abacus.platform.sql import Statement, array, arrays, column
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.decide.ranking import behind_all
from abacus.signals.counters.store.partitions import Partitions
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange, Slots

_AT_ONCE: Final = 10_000  # rows of a statement
_TIMES: Final = 3
_KEYS: Final = range(slot_of(Grain.KEYS, 0), slot_of(Grain.MINUTE, 0))

# Citus has no plan for many rows that does not depend on them, which is what `LOOKUPS_BY_KEY` asks for.
_PLAN_BY_VALUES: Final = "set local plan_cache_mode = auto"

_Any = TypeVar("_Any")


class _Statements(NamedTuple):
    """Of one table."""

    load: Statement
    save: Statement
    sums: Statement
    slots: Statement
    there: Statement
    keys: Statement
    top: Statement


class SliceRows:
    """The rows of a slice, or of a ledger that is not cut."""

    def __init__(self, clock: Clock, slice_: Slice, *, most_partitions: int) -> None:
        self._slice = slice_
        self._statements = _statements(slice_.table("counter_row"))
        self.partitions: Final = Partitions(clock, slice_, most=most_partitions)

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        """The counts of these rows, as far as they are saved."""
        found: dict[RowKey, Count] = {}
        async with self._slice.unled() as connection:
            for some in _stretches(keys):
                rows = await connection.fetch(*self._statements.load(**_grouped(some)))
                found.update((RowKey(key, slot, writer), Count(count, upto)) for key, slot, writer, count, upto in rows)
        return found

    async def save(self, rows: Sequence[Row]) -> None:
        """A row that is saved with a higher offset already stays as it is."""
        for some in _stretches(rows):
            await self._save(some)

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        """Of each range, in their order."""
        return [int(each) for each in await self._of_each(self._statements.sums, ranges)]

    async def slots(self, ranges: Sequence[SlotRange]) -> Sequence[Mapping[int, int]]:
        """The sum of each slot of each range that has a row, the ranges in their order."""
        found: list[dict[int, int]] = [{} for _ in ranges]
        async with self._slice.unled() as connection:
            for number, slot, sum_ in await connection.fetch(*self._statements.slots(**arrays(SlotRange, ranges))):
                found[number - 1][slot] = int(sum_)
        return found

    async def keys(self, space: str, after: str, most: int) -> Sequence[str]:
        """The keys of a space that are remembered behind this one, in order."""
        values = {"after": max(after, space), "end": behind_all(space), "most": most}
        async with self._slice.unled() as connection:
            return [row[0] for row in await connection.fetch(*self._statements.keys(**values))]

    async def top(self, space: str, slots: Sequence[Slots], most: int) -> Sequence[tuple[str, int]]:
        """The keys of a space with the largest sums over these slots."""
        values = {
            "space": space,
            "end": behind_all(space),
            "firsts": column(first for first, _ in slots),
            "ends": column(end for _, end in slots),
            "most": most,
        }
        async with self._slice.unled() as connection:
            return [(key, int(sum_)) for key, sum_ in await connection.fetch(*self._statements.top(**values))]

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        """Whether each range has a row, in their order."""
        return [bool(each) for each in await self._of_each(self._statements.there, ranges)]

    async def _of_each(self, statement: Statement, ranges: Sequence[SlotRange]) -> Sequence[int | bool]:
        found: list[int | bool] = []
        async with self._slice.unled() as connection:
            for some in _stretches(ranges):
                found += [row[0] for row in await connection.fetch(*statement(**arrays(SlotRange, some)))]
        return found

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
                async with self._slice.unled() as connection:
                    await self._write(connection, values)
            except asyncpg.CheckViolationError:  # a partition was dropped since this process last looked
                await self.partitions.look()
            else:
                return
        raise Unavailable(DEPENDENCY, "partitions of counters are dropped as soon as they are made")

    async def _write(self, connection: Connection, values: Mapping[str, object]) -> None:
        statement = self._statements.save(**values)
        if self._slice.schema is None:
            await connection.execute(*statement)
            return
        async with connection.transaction():
            await connection.execute(_PLAN_BY_VALUES)
            await connection.execute(*statement)


@cache
def _statements(table: str) -> _Statements:
    return _Statements(
        # The keys of a slot and writer are looked up together; `offset 0` keeps the planner from joining whole
        # partitions.
        load=Statement(f"""
select r.key, g.slot, g.writer, r.count, r.upto
from unnest({array("slots", "integer")}, {array("writers", "bigint")}, {array("firsts", "integer")},
    {array("lasts", "integer")}) as g (slot, writer, first, last)
cross join (select :keys::text[] as keys offset 0) k
cross join lateral (
    select key, count, upto from {table}
    where slot = g.slot and writer = g.writer and key = any(k.keys[g.first : g.last]) offset 0
) r
"""),
        # Sorted, so that two who save the same rows wait for each other and never in a circle.
        save=Statement(f"""
insert into {table} as r (key, slot, writer, count, upto)
select distinct on (key, slot, writer) u.*
from unnest(:keys::text[], {array("slots", "integer")}, {array("writers", "bigint")},
    {array("counts", "bigint")}, {array("uptos", "bigint")}) as u (key, slot, writer, count, upto)
order by key, slot, writer, upto desc
on conflict (key, slot, writer) do update set count = excluded.count, upto = excluded.upto where excluded.upto > r.upto
"""),
        sums=Statement(f"""
select coalesce(r.sum, 0)::bigint
from unnest(:key::text[], :first::integer[], :end::integer[]) with ordinality as u (key, first, "end", number)
cross join lateral (
    select sum(count) from {table} where key = u.key and slot >= u.first and slot < u."end"
) r
order by u.number
"""),
        slots=Statement(f"""
select u.number, r.slot, r.sum
from unnest(:key::text[], :first::integer[], :end::integer[]) with ordinality as u (key, first, "end", number)
cross join lateral (
    select slot, sum(count)::bigint as sum from {table} where key = u.key and slot >= u.first and slot < u."end"
    group by slot
) r
"""),
        # A key that counts has a row of its own for each writer.
        keys=Statement(f"""
select distinct key from {table}
where slot >= {_KEYS.start} and slot < {_KEYS.stop} and key > :after and key < :end order by key limit :most
"""),
        top=Statement(f"""
select r.key, sum(r.count)::bigint as sum
from unnest({array("firsts", "integer")}, {array("ends", "integer")}) as u (first, "end")
cross join lateral (
    select key, count from {table} where key >= :space and key < :end and slot >= u.first and slot < u."end"
) r
group by r.key having sum(r.count) <> 0 order by sum desc, r.key limit :most
"""),
        there=Statement(f"""
select r.one is not null
from unnest(:key::text[], :first::integer[], :end::integer[]) with ordinality as u (key, first, "end", number)
left join lateral (
    select 1 as one from {table} where key = u.key and slot >= u.first and slot < u."end" limit 1
) r on true
order by u.number
"""),
    )


def _grouped(places: Sequence[RowKey]) -> dict[str, object]:
    """The values for `load`: the keys of each slot and writer, one after another, and where each of these begins and
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
