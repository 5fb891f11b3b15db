"""Through which day the tiers of each country have been rolled.

Whoever counts points holds a share of the calendars of the countries concerned until it has written. Whoever ends a
period holds the country's calendar alone while it moves it. So it waits for those who still count by the day before,
and whoever comes after it counts by the new day: no tier that has ended is written behind the back of the run that ends
them. The locks are advisory ones because these are taken in turn: a row that is always shared by someone could never be
moved.
"""

from collections.abc import Collection
from datetime import date
from typing import Final

from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.programs.tiers.decide.policy import LONG_AGO

_SHARE: Final = Statement("""
select pg_advisory_xact_lock_shared(hashtext('abacus tiers calendar ' || country))
from unnest(:countries::text[]) as u (country)
""")

_ALONE: Final = Statement("select pg_advisory_xact_lock(hashtext('abacus tiers calendar ' || :country))")

_MOVE: Final = Statement("""
insert into tier_calendar as c (country, rolled_through) values (:country, :through)
on conflict (country) do update set rolled_through = greatest(c.rolled_through, excluded.rolled_through)
""")

_THROUGH: Final = Statement("select rolled_through from tier_calendar where country = :country")
_ALL_THROUGH: Final = Statement(
    "select country, rolled_through from tier_calendar where country = any(:countries::text[])"
)


async def hold_calendars(connection: Connection, countries: Collection[str]) -> dict[str, date]:
    """Nobody moves them until the transaction ends. A country that was never rolled is not among them."""
    ordered = sorted(countries)
    await connection.execute(*_SHARE(countries=ordered))
    rows = await connection.fetch(*_ALL_THROUGH(countries=ordered))
    return {row["country"]: row["rolled_through"] for row in rows}


async def move_calendar(connection: Connection, country: str, through: date) -> None:
    """Waits for those who count. The transaction should end soon, for others wait for it then."""
    await connection.execute(*_ALONE(country=country))
    await connection.execute(*_MOVE(country=country, through=through))


async def rolled_through(connection: Connection, country: str) -> date:
    through: date | None = await connection.fetchval(*_THROUGH(country=country))
    return through or LONG_AGO
