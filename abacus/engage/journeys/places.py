"""Where a member waits who is inside: the seat says it while an event is waited for, else the pack and the trail."""

from datetime import datetime
from typing import Final

from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.trail_rows import passed
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

_PACK: Final = Statement("""
select p.node from pack p cross join lateral unnest(p.members, p.visits) as u (member, visit)
where p.journey = :journey and not p.awaits and p.version = :version
    and :member = any(p.members) and u.member = :member and u.visit = :visit
order by p.due desc limit 1
""")


async def place_of(connection: Connection, seat: Seat, until: datetime) -> tuple[int, datetime] | None:
    """The number of the node where a member waits who is inside, and since when."""
    if seat.node is not None:
        return seat.node, seat.since
    given = {"journey": seat.journey, "version": seat.version, "member": seat.member, "visit": seat.visit}
    node = await connection.fetchval(*_PACK(**given))
    ways = await passed(connection, seat, until)
    return None if node is None or not ways else (node, ways[-1].at)
