"""The points that will lapse, by date, as the accounts stand.

The rule is that of the expiry preview: an account that lives by activity lapses all at once, after its date. In a
lifetime account each lot has a date of its own; points that were spent or are held come off the oldest lots first.
"""

from typing import Final, NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.programs.expiry.lapsing_sql import lapsing

HELD: Final = "held"
NEVER: Final = "never"
OWED: Final = "owed"

_AGEING: Final = f"""
with due as (
    select a.member_id, a.program, a.country, coalesce(to_char(l.lapses_on, 'YYYY-MM'), '{NEVER}') as lapses, l.points
    from account a cross join lateral {lapsing("a")} l
    where a.balance > a.held
    union all
    select member_id, program, country, '{HELD}', least(held, balance) from account where balance > 0 and held > 0
    union all
    select member_id, program, country, '{OWED}', balance from account where balance < 0
)
select program, country, lapses, count(distinct member_id) as members, sum(points)::bigint as points
from due
where points <> 0
group by program, country, lapses
"""


class Due(NamedTuple):
    """Points that lapse with a month's end (2026-12); or that are held, never lapse as things stand, or are owed.

    Together they are the balances.
    """

    program: str
    country: str
    lapses: str
    members: int
    points: int


async def ageing(connection: Connection) -> list[Due]:
    return [Due(*row) for row in await slices.sums(connection, (_AGEING,), facts=3)]
