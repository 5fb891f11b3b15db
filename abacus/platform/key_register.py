"""The register of keys that are unique over all slices: a key belongs to the slice that entered it first, for ever."""

from collections.abc import Iterable, Mapping
from typing import Final

from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, array, column

# Sorted, so that two that enter the same keys cannot wait for each other.
_ENTER: Final = Statement(f"""
with entered as (
    insert into key_slice (key, slice) select * from unnest({array("keys", "text")}, {array("slices", "smallint")})
    on conflict do nothing returning true
) select count(*) from entered
""")
_HOLDERS: Final = Statement("select key, slice from key_slice where key = any(:keys::text[])")


async def entered(pool: Pool, slices: Mapping[str, int]) -> Mapping[str, int]:
    """Enter the keys; returns the slice that each belongs to, now or since before: the same mapping, where all are new.
    Raises `Unavailable`.
    """
    keys = sorted(slices)
    async with passing_failures():
        new = await pool.fetchval(*_ENTER(keys=column(keys), slices=column(slices[key] for key in keys)))
    return slices if new == len(keys) else await holders_of(pool, keys)


async def holders_of(pool: Pool, keys: Iterable[str]) -> dict[str, int]:
    """The slices of the entered keys. Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_HOLDERS(keys=list(keys)))
    return {row["key"]: row["slice"] for row in rows}
