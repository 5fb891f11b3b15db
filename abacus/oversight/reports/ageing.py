"""The points that will lapse, by date, as the accounts stand.

An account that lives by activity lapses all at once, after its date. In a lifetime account each lot has a date of its
own; points that were spent or are held come off the oldest lots first.
"""

from typing import Final, NamedTuple

from abacus.platform.postgres import LONG_S, Connection

HELD: Final = "held"
NEVER: Final = "never"
OWED: Final = "owed"

# A lot's share of the remaining points: the part of it that lies beyond the points that are gone.
_AGEING: Final = f"""
with named as (
    select member_id, program, lot_seq, sum(points) as points from draw group by member_id, program, lot_seq
), lot as (
    select t.member_id, t.program, a.country, t.expires_on, t.points - coalesce(n.points, 0) as capacity,
        sum(t.points - coalesce(n.points, 0)) over (partition by t.member_id, t.program order by t.seq)
            - a.lots_drawn - a.held as left_upto
    from account a
    join transfer t on t.member_id = a.member_id and t.program = a.program
    left join named n on n.member_id = t.member_id and n.program = t.program and n.lot_seq = t.seq
    where a.lifetime and a.balance > 0 and t.points > 0 and t.seq > a.lots_closed
), due as (
    select member_id, program, country, coalesce(to_char(expires_on, 'YYYY-MM'), '{NEVER}') as lapses,
        least(capacity, greatest(left_upto, 0)) as points
    from lot
    union all
    select member_id, program, country, coalesce(to_char(expires_on, 'YYYY-MM'), '{NEVER}'), balance - held
    from account where not lifetime and balance > held
    union all
    select member_id, program, country, '{HELD}', least(held, balance) from account where balance > 0 and held > 0
    union all
    select member_id, program, country, '{OWED}', balance from account where balance < 0
)
select program, country, lapses, count(distinct member_id) as members, sum(points)::bigint as points
from due
where points <> 0
group by program, country, lapses
order by program, country, lapses
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
    return [Due(*row) for row in await connection.fetch(_AGEING, timeout=LONG_S)]
