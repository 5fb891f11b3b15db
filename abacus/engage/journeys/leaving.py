"""A member leaves all journeys at once, wherever it waits."""

import random
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.engage.journeys import sum_rows, trail_rows
from abacus.engage.journeys.decide.seat import NOTHING
from abacus.engage.journeys.decide.ways import Travellers, counted, fetched
from abacus.engage.journeys.seat_rows import lock_all
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

_RNG: Final = random.SystemRandom()  # a process that was forked draws no number again


class _Left(NamedTuple):
    """A seat as it was left."""

    journey: str
    version: int
    node: int | None
    turn: int | None
    member: int
    visit: int


_LEAVE: Final = Statement("""
update seat set left_at = :now, why = :why where member_id = :member_id and left_at is null
returning journey, version, node, turn, member, visit
""")
_ZONES: Final = Statement("""
select distinct on (name) name, document ->> 'timezone' from journey where name = any(:names::text[])
order by name, approved_at is null, version desc
""")


async def leave_all(connection: Connection, member_id: str, why: str, now: datetime) -> None:
    """In a transaction in the slice of the member. Its seats are locked until that ends."""
    await lock_all(connection, member_id)
    left = [_Left(*row) for row in await connection.fetch(*_LEAVE(member_id=member_id, why=why, now=now))]
    if not left:
        return
    zones = dict(map(tuple, await connection.fetch(*_ZONES(names=[each.journey for each in left]))))
    for each in left:
        way = fetched(each.journey, each.version, each.node, each.turn, why)
        went = {way: Travellers([each.member], [each.visit], [NOTHING])}
        await trail_rows.add(connection, went, now, _RNG.random)
        zone = ZoneInfo(zones.get(each.journey, "UTC"))
        await sum_rows.add(connection, counted(went), now.astimezone(zone).date())
