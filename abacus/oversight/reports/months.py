"""What each month moved, read from the ledger in one scan."""

from typing import Final

from abacus.oversight.reports.decide.months import Moved
from abacus.oversight.reports.decide.rollforward import OF_KIND, SIGNS
from abacus.oversight.reports.homes import Homes
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.programs.expiry.decide.month import Month


def of_column(column: str) -> str:
    """The condition on a transfer whose points stand in this column of the rollforward."""
    kinds = ", ".join(f"'{kind}'" for kind, each in OF_KIND.items() if each.moved == column)
    return f"kind in ({kinds})"


_COLUMNS: Final = ", ".join(
    f"coalesce({sign} * sum(points) filter (where {of_column(column)}), 0)::bigint as {column}"
    for column, sign in SIGNS.items()
)
# The balances above zero at a month's end are the sum of their changes so far.
_MOVED: Final = Statement(f"""
with home as (
    select * from unnest(:countries::text[], :zones::text[], :until::timestamptz[]) as h (country, zone, until)
), booked as (
    select t.program, a.country, to_char(t.posted_at at time zone h.zone, 'YYYY-MM') as month, t.kind, t.points,
        greatest(t.balance_after, 0) - greatest(t.balance_after - t.points, 0) as held
    from transfer t
    join account a on a.member_id = t.member_id and a.program = t.program
    join home h on h.country = a.country
    where t.points <> 0 and t.posted_at < h.until
)
select program, country, month, {_COLUMNS}, sum(held)::bigint as outstanding
from booked
group by program, country, month
""")


async def moved(connection: Connection, where: Homes, last: Month) -> list[Moved]:
    """Up to the end of the month, by the clock of each country."""
    statement = _MOVED(countries=where.countries, zones=where.zone_names, until=where.end(last.last_day))
    return [
        Moved(program, country, Month.parse(month), *points)
        for program, country, month, *points in await slices.sums(connection, statement, facts=3)
    ]
