"""The points that each month issued and used, from which revenue is computed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.oversight.reports.decide.revenue import Activity
from abacus.oversight.reports.decide.rollforward import OF_KIND
from abacus.oversight.reports.homes import Homes
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.programs.expiry.decide.month import Month


def _of(column: str) -> str:
    """The condition on a transfer whose points stand in this column."""
    conditions = []
    for kind, each in OF_KIND.items():
        match each.came_as == column, each.went_as == column:
            case True, True:
                conditions.append(f"kind = '{kind}'")
            case True, False:
                conditions.append(f"kind = '{kind}' and points > 0")
            case False, True:
                conditions.append(f"kind = '{kind}' and points < 0")
    return " or ".join(conditions)


_ACTIVITY: Final = Statement(f"""
with home as (
    select * from unnest(:countries::text[], :zones::text[], :until::timestamptz[]) as h (country, zone, until)
), booked as (
    select t.program, a.country, to_char(t.posted_at at time zone h.zone, 'YYYY-MM') as month, t.kind, t.points
    from transfer t
    join account a on a.member_id = t.member_id and a.program = t.program
    join home h on h.country = a.country
    where t.points <> 0 and t.posted_at < h.until
)
select program, country, month,
    coalesce(sum(points) filter (where {_of("issued")}), 0)::bigint as issued,
    coalesce(sum(points) filter (where {_of("added")}), 0)::bigint as added,
    coalesce(-sum(points) filter (where {_of("used")}), 0)::bigint as used,
    coalesce(-sum(points) filter (where {_of("expired")}), 0)::bigint as expired,
    coalesce(sum(points) filter (where {_of("exchanged_in")}), 0)::bigint as exchanged_in,
    coalesce(-sum(points) filter (where {_of("exchanged_out")}), 0)::bigint as exchanged_out
from booked
group by program, country, month
""")


async def activity(connection: Connection, where: Homes, until: Sequence[datetime]) -> list[Activity]:
    """The points before these moments, one for each country."""
    statement = _ACTIVITY(countries=where.countries, zones=where.zone_names, until=until)
    return [
        Activity(program, country, Month.parse(month), *points)
        for program, country, month, *points in await slices.sums(connection, statement, facts=3)
    ]
