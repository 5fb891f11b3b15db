"""Documents whose versions have states, by a part of their name, or of what they say they are about."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from abacus.documents.stated import StatedKind
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns


class NamedVersion(NamedTuple):
    """The latest version of a document."""

    name: str
    version: int
    country: str
    status: str
    about: str | None


async def versions_named(
    pool: Pool, kind: StatedKind[Any, Any], text: str, countries: Sequence[str] | None, most: int
) -> list[NamedVersion]:
    """Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_named(kind.table.name)(text=text, countries=countries, most=most))
    return [NamedVersion(*row) for row in rows]


def _named(table: str) -> Statement:
    """There are some thousand versions at most: their names are looked through."""
    return Statement(f"""
select {columns(NamedVersion)} from (
    select distinct on (name) name, version, country, status, document ->> 'about' as about from {table}
    where :countries::text[] is null or country = any(:countries)
    order by name, version desc
) c
where strpos(name, lower(:text)) > 0 or strpos(lower(about), lower(:text)) > 0
order by not starts_with(name, lower(:text)), name limit :most
""")
