"""The chain of the log in Postgres: entries get their places one after the other, soon after they are written.

Who writes an entry waits for nobody, and a transaction that is slow holds nothing up: its entry gets the next place
when it has ended.
"""

from collections.abc import Sequence
from typing import Any, Final

from abacus.people.decide.log_chain import body_of, chained, erased_digest
from abacus.people.types.deed import Chained, Entry, LogHead
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns

BATCH: Final = 1000
COLUMNS: Final = ", ".join((columns(Entry), *Chained._fields[1:]))  # of a row of the log

_LOCK: Final = "select pg_advisory_xact_lock(hashtext('abacus log'), 0)"
_HEAD: Final = "select number, hash from audit_head"
_MOVE_HEAD: Final = Statement("""
insert into audit_head (number, hash) values (:number, :hash)
on conflict (one) do update set number = excluded.number, hash = excluded.hash
""")
_NEXT: Final = Statement(f"""
select {COLUMNS} from audit_log where number is null order by at, entry_id limit {BATCH}
""")
_PLACE: Final = Statement("""
update audit_log l set number = u.number, hash = u.hash
from unnest(:ids::uuid[], :numbers::bigint[], :hashes::bytea[]) as u (entry_id, number, hash)
where l.entry_id = u.entry_id
""")
_ABOUT: Final = Statement(f"select {COLUMNS} from audit_log where subject = :subject order by number, at, entry_id")
_FORGET: Final = Statement("""
update audit_log set subject = :subject, details = :details, salt = :salt, body = :body where entry_id = :entry_id
""")


def chained_of(row: Sequence[Any]) -> Chained:
    """From the `COLUMNS` of a row."""
    fields = len(Entry._fields)
    return Chained(Entry(*row[:fields]), *row[fields:])


async def chain_next(connection: Connection) -> int:
    """Give a batch of entries their places; returns how many. In a transaction of its own."""
    async with connection.transaction():
        await connection.execute(_LOCK)
        head = await log_head(connection)
        placed = chained([chained_of(row) for row in await connection.fetch(*_NEXT())], head)
        if placed:
            given = {"ids": [each.entry.entry_id for each in placed], "numbers": [each.number for each in placed]}
            await connection.execute(*_PLACE(**given, hashes=[each.hash for each in placed]))
            await connection.execute(*_MOVE_HEAD(number=placed[-1].number, hash=placed[-1].hash))
    return len(placed)


async def log_head(connection: Connection) -> LogHead:
    row = await connection.fetchrow(_HEAD)
    return LogHead(*row) if row else LogHead()


async def forget(connection: Connection, row: Chained, subject: str, details: bytes) -> None:
    """Put other words in the place of an entry's subject and details, for an erasure. It keeps its hash."""
    kept = {"salt": row.salt, "body": row.body}
    if row.number is not None:
        kept = {"salt": None, "body": body_of(row)}
    await connection.execute(*_FORGET(subject=subject, details=details, entry_id=row.entry.entry_id, **kept))


async def entries_about(connection: Connection, subject: str) -> list[Chained]:
    return [chained_of(row) for row in await connection.fetch(*_ABOUT(subject=subject))]


async def digest_of_erased(connection: Connection, subject: str) -> str:
    """Over the entries about the subject whose names an erasure has taken, as they are now."""
    return erased_digest([each for each in await entries_about(connection, subject) if each.salt is None])
