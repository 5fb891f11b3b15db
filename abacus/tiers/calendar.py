"""Through which day the tiers of each country have been rolled.

Whoever counts points holds a share of the rows of the countries concerned until it has written. Whoever ends a period
moves the row first, so it waits for those who still count by the day before, and whoever counts after that counts by
the new day: no tier that has ended is written behind the back of the run that ends them.
"""

from collections.abc import Collection
from datetime import date
from typing import Final

from abacus.postgres import Connection
from abacus.tiers.policy import LONG_AGO

_HOLD: Final = """
select country, rolled_through from tier_calendar where country = any($1::text[]) order by country for share
"""

_BEGIN: Final = """
insert into tier_calendar (country, rolled_through)
select country, '-infinity' from unnest($1::text[]) as u (country) order by country
on conflict do nothing
"""

_MOVE: Final = """
update tier_calendar set rolled_through = greatest(rolled_through, $2) where country = $1
"""


async def hold_calendars(connection: Connection, countries: Collection[str]) -> dict[str, date]:
    """Nobody moves them until the transaction ends."""
    ordered = sorted(countries)
    held = {row[0]: row[1] for row in await connection.fetch(_HOLD, ordered)}
    if len(held) < len(ordered):
        await connection.execute(_BEGIN, [country for country in ordered if country not in held])
        held = {row[0]: row[1] for row in await connection.fetch(_HOLD, ordered)}
    return held


async def move_calendar(connection: Connection, country: str, through: date) -> None:
    await connection.execute(_BEGIN, [country])
    await connection.execute(_MOVE, country, through)


async def rolled_through(connection: Connection, country: str) -> date:
    found: date | None = await connection.fetchval(
        "select rolled_through from tier_calendar where country = $1", country
    )
    return found or LONG_AGO
