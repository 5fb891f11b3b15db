"""The ids of the regions in force, by which rules and files are judged. Each edition is read once: it never changes."""

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final, TypeAlias

import orjson

from abacus.core.recent import Recent
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement

IN_FORCE: Final = """
select distinct on (country) country, number, in_force_at from region_edition where in_force_at is not null
order by country, number desc
"""
REGIONS: Final = Statement("select regions from region_edition where country = :country and number = :number")
_MOST_KEPT: Final = 2_000_000  # ids

Ids: TypeAlias = Collection[str]
_Edition: TypeAlias = tuple[str, int, datetime]


async def region_ids(connection: Connection) -> Ids:
    """Of all countries."""
    by_country = await ids_by_country(connection)
    return set[str]().union(*by_country.values())


async def ids_by_country(connection: Connection) -> Mapping[str, Ids]:
    ids: dict[str, Ids] = {}
    for row in await connection.fetch(IN_FORCE):
        edition = country, number, _ = tuple(row)
        known = _kept().get(edition)
        if known is None:
            known = ids_of(await connection.fetchval(*REGIONS(country=country, number=number)) or "[]")
            _kept().put(edition, known, weight=len(known) + 1)
        ids[country] = known
    return ids


async def region_ids_now(pool: Pool) -> Ids:
    """Raises `Unavailable`."""
    async with passing_failures(), pool.acquire() as connection:
        return await region_ids(connection)


def ids_of(written: str) -> frozenset[str]:
    """The ids of the regions of an edition, as it is written."""
    return frozenset(id_ for id_, *_ in orjson.loads(written))


@lru_cache(maxsize=1)
def _kept() -> Recent[_Edition, frozenset[str]]:
    """Of this process, for all of its databases: two of them have no edition of the same moment."""
    return Recent(_MOST_KEPT)
