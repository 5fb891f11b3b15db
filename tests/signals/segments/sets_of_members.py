"""Segments for tests: made on Postgres, and read back as sets of ids."""

from datetime import UTC, datetime
from typing import Final

from abacus.platform.postgres import Pool
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import Changed, How, Members

NOW: Final = datetime(2026, 11, 23, 9, tzinfo=UTC)
ANN: Final = Author("person:ann", NOW)


async def numbered(pool: Pool, *members: str) -> Members:
    return Members((await MemberNumbers(pool).give(members)).values())


async def change(pool: Pool, name: str, how: How, *members: str, country: str | None = None) -> Changed:
    given = await numbered(pool, *members)
    return await SegmentStore(pool).change(name, how, given, ANN, country=country)


async def load(pool: Pool, name: str, *members: str, country: str | None = None) -> Changed:
    return await change(pool, name, How.LOAD, *members, country=country)


async def members_of(pool: Pool, label: str) -> set[str]:
    _, members = await SegmentStore(pool).members(label)
    return set(await MemberNumbers(pool).members(list(members)))


async def erase(owner: Pool, member: str) -> None:
    """As the treatment of an erasure does it."""
    async with owner.acquire() as connection, connection.transaction():
        number = await connection.fetchval("delete from member_number where member_id = $1 returning number", member)
        await connection.execute("insert into member_number_erased values ($1)", number)
