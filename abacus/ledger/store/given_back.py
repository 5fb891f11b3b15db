"""The day of the lots that a transfer took points from: given back to an account by lots, the points have it again."""

from datetime import date
from typing import Final

from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

# The last day of the lots that the points came from, the oldest first: `gone` points had left before, and each lot ends
# `upto` points after the first. Also of a transfer by activity: points from before a change keep their lot's day.
_GOOD_UNTIL: Final = Statement("""
select (
    select max(lot.expires_on) from (
        select t.expires_on, t.points - d.drawn as capacity, sum(t.points - d.drawn) over (order by t.seq) as upto
        from transfer t cross join lateral (
            select coalesce(sum(d.points), 0) as drawn from draw d
            where d.member_id = t.member_id and d.program = t.program and d.lot_seq = t.seq
        ) d
        where t.member_id = :member_id and t.program = :program and t.seq < :seq and t.points > 0
    ) lot
    where lot.capacity > 0 and lot.upto > taker.gone and lot.upto - lot.capacity < taker.gone - taker.points
)
from (
    select t.points, coalesce((
        select sum(-e.points) from transfer e
        where e.member_id = :member_id and e.program = :program and e.seq < :seq and e.points < 0
    ), 0) - coalesce((
        select sum(d.points) from draw d where d.member_id = :member_id and d.program = :program and d.seq < :seq
    ), 0) as gone
    from transfer t where t.member_id = :member_id and t.program = :program and t.seq = :seq
) taker
""")


async def good_when_taken(connection: Connection, taker: Transfer) -> date | None:
    """None where it cannot be known."""
    which = {"member_id": taker.member_id, "program": taker.program, "seq": taker.seq}
    day: date | None = await connection.fetchval(*_GOOD_UNTIL(**which))
    return day
