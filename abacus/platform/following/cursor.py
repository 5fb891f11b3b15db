"""Walks a table in the order of the transactions that wrote its rows, and keeps the position reached in a cursor.

A position is a named tuple: `xid`, which is text because it is 64 bits unsigned, and the columns of the table's key.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Generic, NamedTuple, TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns

At = TypeVar("At", bound=tuple[Any, ...])
Row = TypeVar("Row", bound=tuple[Any, ...])

_XID: Final = "xid::text::xid8"


class Order(NamedTuple):
    """What `xid` says about a row: SQL for the first that a row may bear which is not settled yet, and for the first
    that none can bear.
    """

    unsettled: str
    beyond: str


# The id of the transaction that wrote the row, or a greater one: only up to the oldest transaction that is still open,
# so a late commit is never skipped.
BY_TRANSACTION: Final = Order("pg_snapshot_xmin(pg_current_snapshot())", "pg_snapshot_xmax(pg_current_snapshot())")


def by_place(table: str) -> Order:
    """The place of its transaction in the order of commits: a reader that sees a row sees all before it."""
    beyond = f"(select coalesce((select xid::text::bigint from {table} order by {table}.xid desc limit 1), 0) + 2)"
    return Order("'18446744073709551615'::xid8", f"{beyond}::text::xid8")


class NextRows(NamedTuple, Generic[Row, At]):
    """The rows that come next, and the position of the last of them."""

    rows: Sequence[Row]
    reached: At


class Walk(Generic[Row, At]):
    """A table whose rows say in the column `xid` where they stand among transactions."""

    def __init__(
        self, table: str, row_type: type[Row], start: At, *, batch: int, order: Order = BY_TRANSACTION
    ) -> None:
        fields = _fields(start)
        place, key = ", ".join(fields), ", ".join(fields[1:])
        behind = f"xid >= :{_XID} and ({place}) > ({_values(fields)})"
        self._table = table
        self._row_type = row_type
        self._start = start
        self._is_ahead = Statement(f"select :{_XID} >= {order.beyond}")
        # In the order of the column and not of the selected expression, a text, in which 1000 comes before 999.
        self._next = Statement(
            f"select {columns(row_type)}, xid::text as at_xid from {table}"
            f" where {behind} and xid < {order.unsettled}"
            f" order by {table}.xid, {key} limit {batch}"
        )
        self._count = Statement(f"select count(*) from (select from {table} where {behind} limit :most) as behind")

    async def next(self, connection: Connection, position: At) -> NextRows[Row, At] | None:
        """The rows behind the position; None when there are none. Raises `Unavailable` when the server has not reached
        the position.
        """
        at = _named(position)
        if await connection.fetchval(*self._is_ahead(xid=at["xid"])):
            raise Unavailable(
                "ledger",
                f"the cursor over {self._table} stands at transaction {at['xid']}, which this server has not reached:"
                " was it restored from a dump? docs/operate/backups.md",
            )
        rows = await connection.fetch(*self._next(**at))
        if not rows:
            return None
        key = (rows[-1][name] for name in _fields(self._start)[1:])
        reached = type(self._start)(rows[-1]["at_xid"], *key)
        return NextRows([self._row_type(*values) for *values, _ in rows], reached)

    async def waiting(self, connection: Connection, position: At, most: int | None = None) -> int:
        """The number of rows behind the position, also rows that `next` does not return yet; counted to `most`."""
        return int(await connection.fetchval(*self._count(**_named(position), most=most)))


class Cursor(Generic[At]):
    """The row of that name in a table of cursors; the first reading makes it, at the start."""

    def __init__(self, table: str, column: str, name: str, start: At) -> None:
        fields = _fields(start)
        place = ", ".join(fields)
        set_ = f"update {table} set ({place}, moved_at) = ({_values(fields)}, :now) where {column} = :name"
        before = ", ".join(_value(field, f"before_{field}") for field in fields)
        self._name = name
        self._start = start
        self._read = Statement(f"select xid::text, {', '.join(fields[1:])} from {table} where {column} = :name")
        self._open = Statement(
            f"insert into {table} ({column}, {place}, moved_at) values (:name, {_values(fields)}, :now)"
            " on conflict do nothing"
        )
        self._put = Statement(set_)
        self._move = Statement(f"{set_} and ({place}) = ({before})")

    async def position(self, connection: Connection, now: datetime) -> At:
        row = await connection.fetchrow(*self._read(name=self._name))
        if row is not None:
            return type(self._start)(*row)
        await connection.execute(*self._open(name=self._name, now=now, **_named(self._start)))
        return self._start

    async def move(self, connection: Connection, before: At, after: At, now: datetime) -> None:
        """Moves the cursor from the position that was read: if it was rewound, or moved by another process, it stays
        where it is.
        """
        was = {f"before_{field}": value for field, value in _named(before).items()}
        await connection.execute(*self._move(name=self._name, now=now, **_named(after), **was))

    async def put(self, connection: Connection, at: At, now: datetime) -> None:
        """Moves the cursor from any position."""
        await self.position(connection, now)
        await connection.execute(*self._put(name=self._name, now=now, **_named(at)))


def _fields(position: tuple[Any, ...]) -> Sequence[str]:
    return list(_named(position))


def _named(position: tuple[Any, ...]) -> dict[str, Any]:
    named: dict[str, Any] = position._asdict()  # type: ignore[attr-defined]  # no type says "a named tuple"
    return named


def _values(fields: Sequence[str]) -> str:
    return ", ".join(_value(field, field) for field in fields)


def _value(field: str, parameter: str) -> str:
    return f":{parameter}::text::xid8" if field == "xid" else f":{parameter}"
