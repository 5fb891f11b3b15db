"""The ids of the regions in force, by which rules are judged. An edition never changes, so it is read once."""

from collections.abc import Collection
from datetime import datetime
from functools import lru_cache
from typing import Final, TypeAlias

import orjson

from abacus.core.recent import Recent
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement

_MOST_KEPT: Final = 2_000_000  # ids
_IN_FORCE: Final = """
select distinct on (country) country, number, in_force_at from region_edition where in_force_at is not null
order by country, number desc
"""
_REGIONS: Final = Statement("select regions from region_edition where country = :country and number = :number")

_Edition: TypeAlias = tuple[str, int, datetime]


async def region_ids(connection: Connection) -> Collection[str]:
    """Of all countries."""
    ids: set[str] = set()
    for row in await connection.fetch(_IN_FORCE):
        edition = tuple(row)
        known = _kept().get(edition)
        if known is None:
            written = await connection.fetchval(*_REGIONS(country=edition[0], number=edition[1]))
            known = frozenset(id_ for id_, *_ in orjson.loads(written or "[]"))
            _kept().put(edition, known, weight=len(known) + 1)
        ids |= known
    return ids


async def region_ids_now(pool: Pool) -> Collection[str]:
    """Raises `Unavailable`."""
    async with passing_failures(), pool.acquire() as connection:
        return await region_ids(connection)


@lru_cache(maxsize=1)
def _kept() -> Recent[_Edition, frozenset[str]]:
    """Of this process, for all of its databases: two of them have no edition of the same moment."""
    return Recent(_MOST_KEPT)
