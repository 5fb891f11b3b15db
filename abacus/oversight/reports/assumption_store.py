"""The assumptions in Postgres: versions of a program and country count from 1, and none is ever changed."""

from collections.abc import Mapping
from datetime import date, datetime
from itertools import chain
from typing import Any, Final

from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate, check_follows, check_issued
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, row_of
from abacus.pricing.store.cards import CardStore

# The columns of the table: those of a version, with the values of its estimate in their place.
_FIELDS: Final = tuple(chain(*(Estimate._fields if each == "estimate" else (each,) for each in Assumption._fields)))
_COLUMNS: Final = ", ".join(_FIELDS)
_LOCK: Final = Statement("""
select pg_advisory_xact_lock(hashtext('assumption:' || :program::text || ':' || :country::text))
""")
_ALL: Final = f"select {_COLUMNS} from assumption order by program, country, version"
_LATEST: Final = Statement(f"""
select {_COLUMNS} from assumption where program = :program and country = :country order by version desc limit 1
""")
_HELD: Final = Statement("select exists(select from account where program = :program and country = :country)")
_INSERT: Final = Statement(f"""
insert into assumption ({_COLUMNS}) values ({", ".join(f":{each}" for each in _FIELDS)})
""")


class AssumptionStore:
    """Reads and sets assumptions. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def set(
        self,
        program: str,
        country: str,
        effective_from: date,
        estimate: Estimate,
        *,
        by: str,
        why: str,
        now: datetime,
        also: Also = nothing_else,
    ) -> Assumption:
        """Add the next version. Raises `Refused` where it cannot follow the latest one."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK(program=program, country=country))
            row = await connection.fetchrow(*_LATEST(program=program, country=country))
            latest = _assumption(row) if row else None
            if latest is not None:
                check_follows(latest, effective_from, estimate)
            version = latest.version + 1 if latest else 1
            assumption = Assumption(program, country, version, effective_from, estimate, now, by, why)
            await connection.execute(*_INSERT(**_row(assumption)))
            await also(connection)
        return assumption

    async def check(self, program: str, country: str, effective_from: date, estimate: Estimate) -> None:
        """Raises `Refused` for what `set` would refuse now, and for points that nobody issues there."""
        cards = await CardStore(self._pool).all()
        async with passing_failures():
            if not await self._pool.fetchval(*_HELD(program=program, country=country)):
                check_issued(program, country, cards)
            row = await self._pool.fetchrow(*_LATEST(program=program, country=country))
        if row is not None:
            check_follows(_assumption(row), effective_from, estimate)

    async def all(self) -> list[Assumption]:
        async with passing_failures():
            return await _all(self._pool)


async def assumptions(connection: Connection) -> AssumptionBook:
    """The assumptions in the connection's snapshot."""
    return AssumptionBook(await _all(connection))


async def _all(reader: Pool | Connection) -> list[Assumption]:
    return [_assumption(row) for row in await reader.fetch(_ALL)]


def _assumption(row: Mapping[str, Any]) -> Assumption:
    told = {name: row[name] for name in Assumption._fields if name != "estimate"}
    return Assumption(**told, estimate=row_of(Estimate, row))


def _row(assumption: Assumption) -> dict[str, object]:
    row = assumption._asdict()
    estimate: Estimate = row.pop("estimate")
    return row | estimate._asdict()
