"""The messages of a window, kept in a table of the session: Postgres sorts and counts more than memory would hold.

Each batch is written in a transaction of its own. A transaction that writes holds up the relay for as long as it is
open, and a reading one does not; so every long statement here only reads.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from abacus.oversight.reconcile.decide.entry import Entry
from abacus.oversight.reconcile.decide.lines import Group
from abacus.oversight.reconcile.decide.verdict import SAME, Facts
from abacus.oversight.reconcile.traces import Trace, traces_of
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns, row_of

LONG_S: Final = 6 * 3600.0  # a query over all of a window may take its time
_BATCH: Final = 5000

_CREATE: Final = """
create temporary table reconcile_message (
    n bigint primary key, partition int not null, "offset" bigint not null, stamped_at timestamptz not null,
    source text not null, key text collate "C", fingerprint text, ignored boolean not null, item text not null,
    posted text, points bigint, posted_before boolean not null, held text
);
create temporary table reconcile_elsewhere (key text collate "C" not null)
"""
_COLUMNS: Final = ("n", *Entry._fields, *Trace._fields)

_NO_TRACE: Final = f"posted is distinct from '{SAME}' and held is null and not ignored"
_NEXT_WITHOUT_TRACE: Final = Statement(f"""
select n, {", ".join(f'"{name}"' for name in Entry._fields)} from reconcile_message
where n > :last and {_NO_TRACE} order by n limit {_BATCH}
""")
_TRACED: Final = Statement("""
update reconcile_message m
set posted = u.posted, points = u.points, posted_before = u.posted_before, held = u.held
from unnest(:ns::bigint[], :posted::text[], :points::bigint[], :posted_before::boolean[], :held::text[])
    as u (n, posted, points, posted_before, held)
where m.n = u.n
""")

_FACTS: Final = f"""
select m.partition, m.source, m.key, m."offset", m.ignored, m.posted,
    coalesce(m.posted = '{SAME}' and row_number() over (
        partition by m.key, m.posted order by m.stamped_at, m.partition, m."offset") = 1, false) as first,
    m.posted_before, coalesce(m.key = any(:doubled::text[]), false) as doubled, m.held,
    m."offset" < c.next as read, m.stamped_at < :settled_before::timestamptz as settled,
    m.stamped_at < :overdue_before::timestamptz as overdue, m.points
from reconcile_message m join unnest(:partitions::int[], :next_offsets::bigint[]) as c (partition, next)
    on c.partition = m.partition
"""
_GROUPS: Final = Statement(f"""
select partition, source, {columns(Facts)}, count(*) as messages, coalesce(sum(points), 0)::bigint as points
from ({_FACTS}) as f group by partition, source, {columns(Facts)}
""")
_ONE_BY_ONE: Final = Statement(f"""
select coalesce(key, '') as key, partition, "offset", {columns(Facts)} from ({_FACTS}) as f
where {_NO_TRACE} or doubled order by partition, "offset"
""")


async def long_pages(connection: Connection, statement: tuple[Any, ...]) -> AsyncIterator[Sequence[Any]]:
    """The rows of a statement that may take its time, a page at a time. In a transaction."""
    cursor = await connection.cursor(*statement, timeout=LONG_S)
    while page := await cursor.fetch(_BATCH, timeout=LONG_S):
        yield page


class AsOf(NamedTuple):
    """The state that a verdict depends on beside the message: how far each partition is read, which keys are
    doubled, and before which time a message has settled or is overdue.
    """

    committed: Mapping[int, int]
    doubled: Sequence[str]
    settled_before: datetime
    overdue_before: datetime

    @property
    def of_asks(self) -> dict[str, object]:
        """The parameters of statements about partners' requests, for which no partition is read."""
        return {
            "doubled": list(self.doubled),
            "settled_before": self.settled_before,
            "overdue_before": self.overdue_before,
        }

    @property
    def of_messages(self) -> dict[str, object]:
        """The parameters of statements about messages."""
        partitions, next_offsets = list(self.committed), list(self.committed.values())
        return {**self.of_asks, "partitions": partitions, "next_offsets": next_offsets}


class MessageAddress(NamedTuple):
    """A message, by its key and its place."""

    key: str
    partition: int
    offset: int


class MessageTable:
    """The table of one window. It is dropped with the session, at the latest."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._entered = 0

    async def create(self) -> None:
        await self._connection.execute(_CREATE)

    async def enter(self, entries: Sequence[Entry]) -> None:
        """Enter messages, with the traces that the ledger and the quarantine have of them now."""
        for start in range(0, len(entries), _BATCH):
            batch = entries[start : start + _BATCH]
            traces = await traces_of(self._connection, batch)
            rows = [
                (self._entered + at, *entry, *trace)
                for at, (entry, trace) in enumerate(zip(batch, traces, strict=True), start=1)
            ]
            await self._connection.copy_records_to_table("reconcile_message", records=rows, columns=_COLUMNS)
            self._entered += len(rows)

    async def enter_elsewhere(self, keys: Sequence[str]) -> None:
        """Enter the keys of messages outside the window, which may explain transfers inside it."""
        await self._connection.copy_records_to_table(
            "reconcile_elsewhere", records=[(key,) for key in keys], columns=("key",)
        )

    async def look_again(self) -> None:
        """Look again for traces of the messages without one: meanwhile there may be one."""
        last = 0
        while rows := await self._connection.fetch(*_NEXT_WITHOUT_TRACE(last=last)):
            last = rows[-1]["n"]
            traces = await traces_of(self._connection, [row_of(Entry, row) for row in rows])
            traced = [(row["n"], trace) for row, trace in zip(rows, traces, strict=True) if trace != Trace()]
            if traced:
                values = {name: [getattr(trace, name) for _, trace in traced] for name in Trace._fields}
                await self._connection.execute(*_TRACED(ns=[n for n, _ in traced], **values))

    async def settle(self) -> None:
        """Analyse the table before statements read all of it, so that the planner knows its size."""
        await self._connection.execute("analyze reconcile_message, reconcile_elsewhere", timeout=LONG_S)

    async def groups(self, as_of: AsOf) -> list[Group]:
        rows = await self._connection.fetch(*_GROUPS(**as_of.of_messages), timeout=LONG_S)
        return [
            Group(row["partition"], row["source"], row_of(Facts, row), row["messages"], row["points"]) for row in rows
        ]

    async def one_by_one(self, as_of: AsOf) -> AsyncIterator[tuple[MessageAddress, Facts]]:
        """The messages without a trace or with a doubled key. Within a transaction."""
        statement = _ONE_BY_ONE(**as_of.of_messages)
        async for row in self._connection.cursor(*statement, prefetch=_BATCH, timeout=LONG_S):
            yield row_of(MessageAddress, row), row_of(Facts, row)
