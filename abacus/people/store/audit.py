"""The log of what was done, in Postgres: written with the deed in one transaction, and never changed."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from abacus.core.sources import is_person
from abacus.people.decide.independence import GIVING
from abacus.people.decide.things import approvals_about
from abacus.people.types.deed import Deed, Entry
from abacus.people.types.person import Access
from abacus.platform.postgres import Also, Connection, Pool, passing_failures, together
from abacus.platform.sql import Narrowed, Statement, columns, narrowed_to, parameters

_WRITE: Final = Statement(f"insert into audit_log ({columns(Entry)}) values ({parameters(Entry)})")

_LIST: Final = Narrowed(
    f"select {columns(Entry)} from audit_log {{where}} order by at desc, entry_id limit :limit",
    actor="actor = :actor",
    deed="deed = :deed",
    subjects="subject = any(:subjects::text[])",
    country="country = :country",
    countries="country = any(:countries::text[])",
    since="at >= :since",
    until="at < :until",
    without="not deed = any(:without::text[])",
    before_at="at <= :before_at and (at < :before_at or entry_id > :before_id)",
)

# Of approvals about a thing the newest. The entry of a decision has the approval as its subject: that is what proofs
# read.
_MOST_APPROVALS: Final = 1000
_ABOUT: Final = Statement(f"""
select 'approval:' || approval_id from (
    select approval_id, asked_at from approval
    where (kind, subject) in (select * from unnest(:kinds::text[], :subjects::text[]))
    union all
    select approval_id, asked_at from approval
    where kind in ('adjustment', 'reversal') and document::jsonb ->> 'member_id' = any(:members::text[])
) about
order by asked_at desc limit {_MOST_APPROVALS}
""")

# The index `audit_log_access_idx` has this deed alone.
_GIVEN: Final = Statement("""
select actor, subject, details ->> 'did', at from audit_log
where deed = :deed and at > :since and details ->> 'did' = any(:did::text[])
""")


def entry_of(
    actor: str, deed: Deed, subject: str, now: datetime, *, country: str | None = None, **details: object
) -> Entry:
    """`actor` is a source. Details without a value are left out."""
    said = {name: value for name, value in details.items() if value is not None}
    return Entry(
        entry_id=uuid4(),
        at=now,
        actor=actor,
        authenticated=is_person(actor),
        deed=deed,
        subject=subject,
        country=country,
        details=json.dumps(said, ensure_ascii=False, default=str).encode(),
    )


async def write(connection: Connection, entries: Sequence[Entry]) -> None:
    """Write the entries in the transaction of the connection."""
    await connection.executemany(*_WRITE.rows([entry._asdict() for entry in entries]))


def noted(entry: Entry) -> Also:
    """The entry, in the transaction of the deed."""

    async def also(connection: Connection) -> None:
        await write(connection, [entry])

    return also


def with_entry(also: Also, entry: Entry) -> Also:
    """`also`, and the entry in the same transaction."""
    return together(also, noted(entry))


async def access_given(connection: Connection, since: datetime) -> list[Access]:
    """Who gave whom a way to act since then."""
    rows = await connection.fetch(*_GIVEN(deed=Deed.MANAGE_PEOPLE, did=list(GIVING), since=since))
    return [Access(*row) for row in rows]


async def log(
    pool: Pool,
    *,
    actor: str | None = None,
    deed: Deed | None = None,
    subjects: Sequence[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    countries: Sequence[str] | None = None,
    without: Sequence[Deed] = (),
    before: tuple[datetime, UUID] | None = None,
    limit: int = 100,
) -> list[Entry]:
    """The entries that fit, the newest first: about one of the subjects or about an approval of it, since a time and
    before another one, in some countries, without some deeds, and behind an entry of the list by its time and id.
    Raises `Unavailable`.
    """
    before_at, before_id = before or (None, None)
    if subjects is not None:
        subjects = [*subjects, *await _approvals_of(pool, subjects)]
    which = {"actor": actor, "deed": deed, "subjects": subjects, "since": since, "until": until}
    place = {"without": list(without) or None, "before_at": before_at, "before_id": before_id}
    async with passing_failures():
        rows = await pool.fetch(*_LIST({**which, **place, **narrowed_to(countries)}, limit=limit))
    return [Entry(*row) for row in rows]


async def _approvals_of(pool: Pool, things: Sequence[str]) -> list[str]:
    """The subjects of entries about approvals of these things."""
    sought = approvals_about(things)
    if not (sought.subjects or sought.members):
        return []
    async with passing_failures():
        return [row[0] for row in await pool.fetch(*_ABOUT(**sought._asdict()))]
