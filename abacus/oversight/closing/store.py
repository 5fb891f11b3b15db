"""The record of closes in Postgres. Every method raises `Unavailable` while the database is away."""

from datetime import datetime
from typing import Final, NamedTuple

import orjson

from abacus.oversight.closing.decide.record import Act, Signed, check_close, check_reopen
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.programs.expiry.decide.month import Month


class _Row(NamedTuple):
    """A row of the table."""

    month: str
    number: int
    act: str
    signed_by: str
    signed_at: datetime
    reason: str
    files: str
    accepted: str
    seal: int | None
    seal_hash: str | None

    @property
    def signed(self) -> Signed:
        files, accepted = orjson.loads(self.files), orjson.loads(self.accepted)
        read = {"month": Month.parse(self.month), "act": Act(self.act), "files": files, "accepted": accepted}
        return Signed(**{**self._asdict(), **read})


_LOCK: Final = "select pg_advisory_xact_lock(hashtext('month_close'))"
_ALL: Final = f"select {columns(_Row)} from month_close order by month, number"
_INSERT: Final = Statement(f"insert into month_close ({columns(_Row)}) values ({parameters(_Row)})")


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
    return [_Row(*row).signed for row in await reader.fetch(_ALL)]
