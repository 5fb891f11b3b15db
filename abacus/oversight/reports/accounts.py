"""The balances of the accounts at a moment, and the points that will lapse by date, read from the ledger."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.ledger.store.pending_sql import pending
from abacus.oversight.reports.decide.liability import ProgramBalance
from abacus.oversight.reports.homes import Homes
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.programs.expiry.lapsing_sql import lapsing

_STANDING: Final = Statement(f"""
with home as (
    select * from unnest(:countries::text[], :until::timestamptz[]) as h (country, until)
), held as (
    select a.member_id, a.program, a.country, a.balance,
        coalesce(sum(t.points) filter (where t.posted_at < h.until), 0) as points,
        coalesce(sum(t.points) filter (where t.posted_at >= h.until), 0) as since,
        coalesce(sum({pending("t")}) filter (where t.posted_at < h.until and t.vests_at >= h.until), 0) as pending,
        coalesce((max(array[t.seq, t.balance_after]) filter (where t.posted_at < h.until))[2], 0) as recorded
    from account a
    join home h on h.country = a.country
    left join transfer t on t.member_id = a.member_id and t.program = a.program
    group by a.member_id, a.program, a.country, a.balance
), exchanging as (
    select a.program, a.country, sum(x.points) as points
    from hold x
    join account a on a.member_id = x.member_id and a.program = x.program
    join home h on h.country = a.country
    join transfer p on p.member_id = x.member_id and p.program = x.program and p.seq = x.placed_seq
    left join transfer s on s.member_id = x.member_id and s.program = x.program and s.seq = x.settled_seq
    where x.settled_by is not null and p.posted_at < h.until and (s.seq is null or s.posted_at >= h.until)
    group by a.program, a.country
)
select program, country, count(*) filter (where b.points > 0) as members,
    sum(greatest(b.points, 0))::bigint as outstanding, sum(least(b.points, 0))::bigint as owed,
    sum(pending)::bigint as pending, coalesce(max(e.points), 0)::bigint as held_for_exchanges,
    sum(recorded)::bigint as recorded, (sum(balance) - sum(since))::bigint as accounts,
    count(*) filter (where b.points <> recorded or b.points <> balance - since) as apart
from held b left join exchanging e using (program, country)
group by program, country
""")


async def balances(connection: Connection, where: Homes, until: Sequence[datetime]) -> list[ProgramBalance]:
    """The balances before these moments, one for each country."""
    statement = _STANDING(countries=where.countries, until=until)
    return [ProgramBalance(*row) for row in await slices.sums(connection, statement, facts=2)]


HELD: Final = "held"
NEVER: Final = "never"
OWED: Final = "owed"

_AGEING: Final = f"""
with due as (
    select a.member_id, a.program, a.country, coalesce(to_char(l.lapses_on, 'YYYY-MM'), '{NEVER}') as lapses,
        l.points, l.pending
    from account a cross join lateral {lapsing("a")} l
    where a.balance > a.held
    union all
    select member_id, program, country, '{HELD}', least(held, balance), 0 from account where balance > 0 and held > 0
    union all
    select member_id, program, country, '{OWED}', balance, 0 from account where balance < 0
)
select program, country, lapses, count(distinct member_id) as members, sum(points)::bigint as points,
    sum(pending)::bigint as pending
from due
where points <> 0
group by program, country, lapses
"""


class Due(NamedTuple):
    """Points that lapse with a month's end (2026-12); or that are held, never lapse as things stand, or are owed.

    Together they are the balances. `pending` of the points have not vested yet.
    """

    program: str
    country: str
    lapses: str
    members: int
    points: int
    pending: int


async def ageing(connection: Connection) -> list[Due]:
    return [Due(*row) for row in await slices.sums(connection, (_AGEING,), facts=3)]
