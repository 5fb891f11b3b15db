"""The lines of a file in a table of this session alone: sorted on disk, and gone with the session.

So a file is read once and may be larger than memory, lines about the same member stand side by side, and the lines
that were checked are posted even if the file changes meanwhile.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

from abacus.ledger.decide.opening_balance import OpeningBalance, Origin
from abacus.platform.postgres import Connection, passing_failures
from abacus.platform.sql import Statement, columns, row_of
from abacus.programs.opening.decide.batch import Staged

_TIMEOUT_S: Final = 3600.0  # for sorting all lines

_CREATE: Final = """
create temporary table opening_line (
    line bigint, member_id text collate "C", program text collate "C", country text, points bigint, expires_on date,
    lifetime boolean
)
"""
_SORT: Final = "create index on opening_line (member_id, program, line)"

_PAGE: Final = Statement(f"""
select line, {columns(OpeningBalance)} from opening_line
where (member_id, program, line) > (:member_id, :program, :line)
order by member_id, program, line limit :most
""")

_REST: Final = Statement(f"""
select line, {columns(OpeningBalance)} from opening_line
where member_id = :member_id and program = :program and line > :line
order by line
""")


class _Place(NamedTuple):
    """Where a line stands in the order of members and programs."""

    member_id: str
    program: str
    line: int


_START: Final = _Place("", "", 0)


class Stage:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, connection: Connection, origin: Origin) -> None:
        self._connection = connection
        self._origin = origin

    async def create(self) -> None:
        async with passing_failures():
            await self._connection.execute("drop table if exists pg_temp.opening_line")
            await self._connection.execute(_CREATE)

    async def add(self, lines: Sequence[tuple[int, OpeningBalance]]) -> None:
        """Each call is a transaction of its own: a lasting transaction would hold up the relay."""
        async with passing_failures():
            await self._connection.copy_records_to_table(
                "opening_line", records=[(number, *opening) for number, opening in lines]
            )

    async def sort(self) -> None:
        """Call it once every line is added."""
        async with passing_failures():
            await self._connection.execute(_SORT, timeout=_TIMEOUT_S)
            await self._connection.execute("analyze pg_temp.opening_line", timeout=_TIMEOUT_S)

    async def pages(self, size: int) -> AsyncIterator[list[Staged]]:
        """All lines in the order of members and programs. Lines about one account are never apart."""
        last = _START
        while rows := await self._fetch(*_PAGE(**last._asdict(), most=size)):
            last = row_of(_Place, rows[-1])
            if len(rows) == size:
                rows += await self._fetch(*_REST(**last._asdict()))
                last = row_of(_Place, rows[-1])
            yield [self._staged(line, OpeningBalance(*facts)) for line, *facts in rows]

    async def _fetch(self, query: str, *values: object) -> list[Any]:
        async with passing_failures():
            return list(await self._connection.fetch(query, *values))

    def _staged(self, line: int, opening: OpeningBalance) -> Staged:
        return Staged(line, self._origin.key(opening), opening)
