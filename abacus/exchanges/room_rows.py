"""What is left of programmes' limits, read under the locks of their standings."""

from collections.abc import Sequence
from datetime import datetime

from abacus.exchanges.decide.caps import Room, periods, uses_of
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.exchange_rows import Counted, locked_uses, member_uses
from abacus.platform.postgres import Connection


async def rooms_of(
    connection: Connection, some: Sequence[tuple[Exchange, Programme]], now: datetime
) -> dict[str, Room]:
    """By the names of the programmes, for these exchanges that are to be counted."""
    asking = {
        Counted(each.member_id, each.programme, each.direction.value, day_begins, month_begins)
        for each, programme in some
        if (caps := programme.caps.get(each.direction)) is not None
        and (caps.member_day is not None or caps.member_month is not None)
        for _, day_begins, month_begins in [periods(programme.timezone, now)]
    }
    of_members = await member_uses(connection, sorted(asking))
    used = await locked_uses(connection, {use for each, of in some for use in uses_of(each, of.timezone)})
    return {
        name: Room(
            used, {(member, way): use for (member, programme, way), use in of_members.items() if programme == name}
        )
        for name in {programme.name for _, programme in some}
    }
