"""The record of closes in Postgres. Every method raises `Unavailable` while the database is away."""

from typing import Any, Final

import orjson

from abacus.oversight.closing.decide.record import Act, Signed, check_close, check_reopen
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.programs.expiry.decide.month import Month

_LOCK: Final = "select pg_advisory_xact_lock(hashtext('month_close'))"
_ALL: Final = f"select {columns(Signed)} from month_close order by month, number"
_INSERT: Final = Statement(f"insert into month_close ({columns(Signed)}) values ({parameters(Signed)})")


class MonthCloses:
    """Reads the record and signs new rows."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all(self) -> list[Signed]:
        async with passing_failures():
            return await _all(self._pool)

    async def sign(self, signed: Signed, also: Also) -> Signed:
        """Sign, with the next number of the month, and do `also` in the same transaction. Raises `Refused` if the
        month's state does not allow it any more.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK)
            record = await _all(connection)
            (check_close if signed.act is Act.CLOSED else check_reopen)(record, signed.month)
            numbered = signed._replace(number=sum(each.month == signed.month for each in record) + 1)
            row = {
                **numbered._asdict(),
                "month": str(numbered.month),
                "act": str(numbered.act),
                "files": orjson.dumps(dict(numbered.files)).decode(),
                "accepted": orjson.dumps(list(numbered.accepted)).decode(),
            }
            await connection.execute(*_INSERT(**row))
            await also(connection)
        return numbered


async def _all(reader: Pool | Connection) -> list[Signed]:
    return [_signed(dict(row)) for row in await reader.fetch(_ALL)]


def _signed(row: dict[str, Any]) -> Signed:
    read = {"month": Month.parse(row["month"]), "act": Act(row["act"])}
    return Signed(**row | read | {name: orjson.loads(row[name]) for name in ("files", "accepted")})
