"""Saved drafts in Postgres. The owner of a draft saves it again and deletes it; nobody else changes it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.errors import Refused
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns, parameters

MOST: Final = 50  # drafts of one person
LARGEST: Final = 60_000  # characters of a draft


class Draft(NamedTuple):
    """What a list shows of a draft. `kind` is the command of its kind of documents; `owner` is a person."""

    draft_id: UUID
    kind: str
    title: str
    country: str | None
    owner: str
    saved_at: datetime


class Saved(NamedTuple):
    """A draft with its text, and the texts before."""

    draft: Draft
    text: str
    before: Sequence[str]


_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtextextended('drafts of ' || :owner, 0))")
_OTHERS: Final = Statement("select count(*) from console_draft where owner = :owner and draft_id <> :draft_id")
_SAVE: Final = Statement(f"""
insert into console_draft ({columns(Draft)}, text, before) values ({parameters(Draft)}, :text, :before)
on conflict (draft_id) do update
    set title = excluded.title, country = excluded.country, text = excluded.text, saved_at = excluded.saved_at,
        before = excluded.before
    where console_draft.owner = excluded.owner
returning true
""")
_FIND: Final = Statement(f"select {columns(Draft)}, text, before from console_draft where draft_id = :draft_id")
_OF: Final = Statement(f"select {columns(Draft)} from console_draft where owner = :owner order by saved_at desc")
_OF_OTHERS: Final = Statement(f"""
select {columns(Draft)} from console_draft
where owner <> :owner and (:countries::text[] is null or country = any(:countries))
    and (:at::timestamptz is null or (saved_at, draft_id) < (:at, :id::uuid))
order by saved_at desc, draft_id desc limit :limit
""")
_DELETE: Final = Statement("""
delete from console_draft where draft_id = :draft_id and owner = :owner returning true
""")


class DraftStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, *, most: int = MOST) -> None:
        self._pool = pool
        self._most = most

    async def save(self, draft: Draft, text: str, also: Also = nothing_else, *, before: Sequence[str] = ()) -> None:
        """A new draft, or its owner's next text of it. Raises `Refused`."""
        if len(text) > LARGEST:
            raise Refused(f"A draft of {len(text):,} characters is not saved; {LARGEST:,} are the most")
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK(owner=draft.owner))
            if await connection.fetchval(*_OTHERS(owner=draft.owner, draft_id=draft.draft_id)) >= self._most:
                raise Refused(f"You have {self._most} drafts; delete one first")
            if not await connection.fetchval(*_SAVE(**draft._asdict(), text=text, before=list(before))):
                raise Refused("The draft is another person's; copy it")
            await also(connection)

    async def find(self, draft_id: UUID) -> Saved | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(draft_id=draft_id))
        return Saved(Draft(*row[:-2]), *row[-2:]) if row else None

    async def of(self, owner: str) -> Sequence[Draft]:
        """The newest first."""
        async with passing_failures():
            return [Draft(*row) for row in await self._pool.fetch(*_OF(owner=owner))]

    async def of_others(
        self, owner: str, countries: Sequence[str] | None, *, after: tuple[datetime, UUID] | None, limit: int
    ) -> Sequence[Draft]:
        """Of these countries, or of all and of none, the newest first, from behind `after` on."""
        at, id_ = after or (None, None)
        given = {"owner": owner, "countries": countries if countries is None else list(countries)}
        async with passing_failures():
            rows = await self._pool.fetch(*_OF_OTHERS(**given, at=at, id=id_, limit=limit))
        return [Draft(*row) for row in rows]

    async def delete(self, draft_id: UUID, owner: str, also: Also = nothing_else) -> None:
        """A draft that is gone, or another person's, stays as it is."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if await connection.fetchval(*_DELETE(draft_id=draft_id, owner=owner)):
                await also(connection)
