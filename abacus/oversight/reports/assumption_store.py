"""The assumptions in Postgres: versions of a program and country count from 1, and none is ever changed."""

from datetime import date, datetime
from typing import Any, Final

from abacus.core.errors import Refused
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate
from abacus.platform.postgres import Connection, Pool, passing_failures

_LOCK: Final = "select pg_advisory_xact_lock(hashtext('assumption:' || $1::text || ':' || $2::text))"
_COLUMNS: Final = (
    "program, country, version, effective_from, currency, expected_use, cost_per_point, selling_price,"
    " allocated_per_point, set_at, set_by, reason"
)
_ALL: Final = f"select {_COLUMNS} from assumption order by program, country, version"
_LATEST: Final = f"""
select {_COLUMNS} from assumption where program = $1 and country = $2 order by version desc limit 1
"""
_INSERT: Final = f"""
insert into assumption ({_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""
_FIRST_OF_ESTIMATE: Final = 4


class AssumptionStore:
    """Reads and sets assumptions. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def set(
        self, program: str, country: str, effective_from: date, estimate: Estimate, *, by: str, why: str, now: datetime
    ) -> Assumption:
        """Give it the next version. Raises `Refused` when the latest version says the same already, or when it is in
        another currency: sums over months would mix the two.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK, program, country)
            row = await connection.fetchrow(_LATEST, program, country)
            latest = _assumption(tuple(row)) if row else None
            if latest is not None and (latest.effective_from, latest.estimate) == (effective_from, estimate):
                raise Refused(f"{latest.name} says the same already; nothing to set")
            if latest is not None and latest.estimate.currency != estimate.currency:
                raise Refused(
                    f"{latest.name} is in {latest.estimate.currency}, so this cannot be in {estimate.currency}"
                )
            version = latest.version + 1 if latest else 1
            found = Assumption(program, country, version, effective_from, estimate, now, by, why)
            await connection.execute(_INSERT, program, country, version, effective_from, *estimate, now, by, why)
        return found

    async def all(self) -> list[Assumption]:
        async with passing_failures():
            return await _all(self._pool)


async def assumptions(connection: Connection) -> AssumptionBook:
    """As they are in the connection's snapshot."""
    return AssumptionBook(await _all(connection))


async def _all(reader: Pool | Connection) -> list[Assumption]:
    return [_assumption(tuple(row)) for row in await reader.fetch(_ALL)]


def _assumption(row: tuple[Any, ...]) -> Assumption:
    after = _FIRST_OF_ESTIMATE + len(Estimate._fields)
    program, country, version, effective_from = row[:_FIRST_OF_ESTIMATE]
    return Assumption(program, country, version, effective_from, Estimate(*row[_FIRST_OF_ESTIMATE:after]), *row[after:])
