"""The generations that a ledger has, for people who look after it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.platform.postgres import Pool
from abacus.platform.slices import slices_of
from abacus.platform.sql import Statement, columns


class Generation(NamedTuple):
    """Its counts are known when it is closed. In a ledger that is not cut the only slice is 0."""

    slice: int
    number: int
    opened_at: datetime
    left_at: datetime | None
    closed_at: datetime | None
    transfers: int | None
    claims: int | None


_ALL: Final = Statement(f"""
select {columns(Generation)} from (select :slice::integer as slice, g.* from generation g) g order by number
""")


async def generations_of(pool: Pool) -> Sequence[Generation]:
    """By slice, the oldest first. Raises `Unavailable`."""
    found: list[Generation] = []
    for each in await slices_of(pool):
        async with each.at() as connection:
            found += [Generation(*row) for row in await connection.fetch(*_ALL(slice=each.number))]
    return found
