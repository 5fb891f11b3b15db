"""Where a member waits who is inside: the seat says it while an event is waited for, else the end of the trail."""

from collections.abc import Sequence
from datetime import datetime

from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.trail_rows import Passage, stood
from abacus.platform.postgres import Connection


def waits_at(seat: Seat, trail: Sequence[Passage]) -> int | None:
    """The number of the node where a member waits who is inside and came this way."""
    if seat.node is not None:
        return seat.node
    return trail[-1].to_node if trail else None


async def place_of(connection: Connection, seat: Seat, until: datetime) -> tuple[int, datetime] | None:
    """The number of the node where a member waits who is inside, and since when."""
    if seat.node is not None:
        return seat.node, seat.since
    node, since = await stood(connection, seat, until) or (None, until)
    return None if node is None else (node, since)
