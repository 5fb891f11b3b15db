"""The balances of the accounts at a moment, read from the ledger."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.oversight.reports.decide.balance import ProgramBalance
from abacus.oversight.reports.homes import Homes
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

_STANDING: Final = Statement("""
with home as (
    select * from unnest(:countries::text[], :until::timestamptz[]) as h (country, until)
), held as (
    select a.member_id, a.program, a.country, a.balance,
        coalesce(sum(t.points) filter (where t.posted_at < h.until), 0) as points,
        coalesce(sum(t.points) filter (where t.posted_at >= h.until), 0) as since,
        coalesce((max(array[t.seq, t.balance_after]) filter (where t.posted_at < h.until))[2], 0) as recorded
    from account a
    join home h on h.country = a.country
    left join transfer t on t.member_id = a.member_id and t.program = a.program
    group by a.member_id, a.program, a.country, a.balance
)
select program, country, count(*) filter (where points > 0) as members,
    sum(greatest(points, 0))::bigint as outstanding, sum(least(points, 0))::bigint as owed,
    sum(recorded)::bigint as recorded, (sum(balance) - sum(since))::bigint as accounts,
    count(*) filter (where points <> recorded or points <> balance - since) as apart
from held
group by program, country
""")


async def balances(connection: Connection, where: Homes, until: Sequence[datetime]) -> list[ProgramBalance]:
    """The balances before these moments, one for each country."""
    statement = _STANDING(countries=where.countries, until=until)
    return [ProgramBalance(*row) for row in await slices.sums(connection, statement, facts=2)]
