"""Through which day the tiers of each country have been rolled.

A transaction that counts points holds a shared lock on the calendars of its countries until it has written. The end of
a period locks the country's calendar alone while it moves the day. So it waits for transactions that still count by the
day before, and later ones count by the new day: no tier that has ended is written after the run that ends tiers has
looked. The locks are advisory because these are taken in turn: a row that is always shared could never be moved.

Each slice has its calendars, and transactions that keep it where it is. The statements that lock look into the table,
for nothing, so that they run at the slice's server, whichever server was asked: an advisory lock is known to its own
server alone.
"""

from collections.abc import Collection
from datetime import date
from typing import Final

from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.programs.tiers.decide.policy import LONG_AGO

_SHARE: Final = Statement("""
select pg_advisory_xact_lock_shared(hashtext('abacus tiers calendar ' || u.country))
from unnest(:countries::text[]) as u (country) where not exists (select from tier_calendar where country = '')
""")

_ALONE: Final = Statement("""
select pg_advisory_xact_lock(hashtext('abacus tiers calendar ' || u.country))
from unnest(array[:country]::text[]) as u (country) where not exists (select from tier_calendar where country = '')
""")

_MOVE: Final = Statement("""
insert into tier_calendar as c (country, rolled_through) values (:country, :through)
on conflict (country) do update set rolled_through = greatest(c.rolled_through, excluded.rolled_through)
""")

_THROUGH: Final = Statement("select rolled_through from tier_calendar where country = :country")
_ALL_THROUGH: Final = Statement(
    "select country, rolled_through from tier_calendar where country = any(:countries::text[])"
)


async def hold_calendars(connection: Connection, countries: Collection[str]) -> dict[str, date]:
    """Share the calendars until the transaction ends, so that none moves. A country never rolled is not among them."""
    ordered = sorted(countries)
    await connection.execute(*_SHARE(countries=ordered))
    rows = await connection.fetch(*_ALL_THROUGH(countries=ordered))
    return {row["country"]: row["rolled_through"] for row in rows}


async def move_calendar(connection: Connection, country: str, through: date) -> None:
    """Waits for transactions that count. This one should end soon, because others then wait for it."""
    await connection.execute(*_ALONE(country=country))
    await connection.execute(*_MOVE(country=country, through=through))


async def rolled_through(connection: Connection, country: str) -> date:
    through: date | None = await connection.fetchval(*_THROUGH(country=country))
    return through or LONG_AGO
