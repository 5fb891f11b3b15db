"""What a journey has left behind, as it stands in the database and on the topic of events."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import orjson

from abacus.platform.kafka.window import Stamped
from abacus.platform.postgres import Pool
from tests.reliability.chaos.travelled import NAME, Turn
from tests.reliability.chaos.travels_judged import Happened, Left, Visit

_NODES: Final = "select node, number from journey_node where journey = $1"
# Members come to the wait for an event out of a wait of a second.
_VISITS: Final = """
select s.member_id, s.visit, s.why, (
    select min(t.at) from journey_trail t where t.journey = s.journey and t.node = $2 and s.member = any(t.members)
)
from seat s where s.journey = $1
"""
_ENDS: Final = """
select s.member_id from journey_trail t cross join unnest(t.members, t.visits) as m (member, visit)
join seat s on s.journey = t.journey and s.member = m.member and s.visit = m.visit
where t.journey = $1 and t.why is not null
"""
_ACTIONS: Final = "select key, done_at is not null from action where owner_kind = 'journey'"
_NOTICES: Final = "select event_id from notice where starts_with(event_id, 'journey:')"
_TRANSFERS: Final = "select key, points from transfer where starts_with(key, 'journey:')"


async def left_of_travels(pool: Pool, published: Iterable[Stamped]) -> Left:
    """`published` are the messages on the topic of events."""
    nodes = {row[0]: row[1] for row in await pool.fetch(_NODES, NAME)}
    return Left(
        nodes=nodes,
        visits=[Visit(*row) for row in await pool.fetch(_VISITS, NAME, nodes["pause"])],
        happened=sorted(_happened(published), key=lambda each: each.stamped_at),
        actions=[(row[0], row[1]) for row in await pool.fetch(_ACTIONS)],
        notices=[row[0] for row in await pool.fetch(_NOTICES)],
        transfers=[(row[0], row[1]) for row in await pool.fetch(_TRANSFERS)],
        ends=[row[0] for row in await pool.fetch(_ENDS, NAME)],
    )


def _happened(published: Iterable[Stamped]) -> Iterable[Happened]:
    for message in published:
        event = orjson.loads(message.value)
        if event["type"] in {Turn.BUYS, Turn.GOES}:
            at = datetime.fromisoformat(event["occurred_at"])
            yield Happened(event["member_id"], event["type"], at, message.stamped_at)
