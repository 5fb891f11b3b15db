"""The trail of journeys, in the slice of their members: a row for members who came the same way together."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from abacus.engage.journeys.decide.looked_up import written
from abacus.engage.journeys.decide.seat import Known, Seat
from abacus.engage.journeys.decide.ways import Travellers, Way
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.sql import Statement

_IDS: Final = 1 << 63


class Passage(NamedTuple):
    """Nodes that a member came through at a time, from the one where the member had waited to the one where it waits
    then. `why` is the reason of the end, at the last of them, and `not_done` the reason for
    which deeds at them were not done. `woken` is None, nothing was `looked` up, and nothing
    says where the member waits then, where that was not kept yet.
    """

    at: datetime
    version: int
    woken: str | None
    node: int | None
    turn: int | None
    path: Sequence[int]
    to_node: int | None
    why: str | None
    not_done: str | None
    looked: Mapping[str, Any]


class _Row(NamedTuple):
    """A row of `journey_trail`."""

    journey: str
    at: datetime
    id: int
    version: int
    woken: str
    node: int | None
    turn: int | None
    path: Sequence[int]
    to_node: int | None
    why: str | None
    not_done: str | None
    members: Sequence[int]
    visits: Sequence[int]
    looked: bytes | None


# Values of members stand at their places among the members, unless all have the same.
_PASSED: Final = Statement("""
select t.at, t.version, t.woken, t.node, t.turn, t.path, t.to_node, t.why, t.not_done, (
    select json_object_agg(
        l.key, case json_typeof(l.value) when 'array' then l.value -> (p.place - 1)::integer else l.value end
    ) from json_each(t.looked) l
)::text as looked
from journey_trail t cross join lateral (
    select u.place from unnest(t.members, t.visits) with ordinality as u (member, visit, place)
    where u.member = :member and u.visit = :visit
) p
where t.journey = :journey and t.at >= :since and t.at <= :until and :member = any(t.members)
order by t.at, t.id
""")


# The last passage alone.
_STOOD: Final = Statement("""
select t.to_node, t.at from journey_trail t
where t.journey = :journey and t.at >= :since and t.at <= :until and :member = any(t.members) and exists(
    select from unnest(t.members, t.visits) as u (member, visit) where u.member = :member and u.visit = :visit
)
order by t.at desc, t.id desc limit 1
""")


async def add(
    connection: Connection, ways_of: Mapping[Way, Travellers], now: datetime, random: Callable[[], float]
) -> None:
    """In the transaction in which they went. Who waits on has gone no way."""
    rows = [
        _row(way, some, now, int(random() * _IDS))
        for way, travellers in ways_of.items()
        if way.leads_on
        for some in travellers.parts()
    ]
    if rows:
        await connection.copy_records_to_table("journey_trail", records=rows, columns=_Row._fields)


def _row(way: Way, travellers: Travellers, now: datetime, id_: int) -> _Row:
    return _Row(
        journey=way.journey,
        at=now,
        id=id_,
        version=way.version,
        woken=way.woken.value,
        node=way.node,
        turn=way.turn,
        path=way.path,
        to_node=way.to,
        why=way.why,
        not_done=way.not_done,
        members=travellers.members,
        visits=travellers.visits,
        looked=_looked(travellers.looked_up),
    )


def _looked(looked_up: list[Known]) -> bytes | None:
    """Each value that was looked up, by the text of its left side: in the order of the members, or once for all."""
    first = looked_up[0]
    if looked_up.count(first) == len(looked_up):
        if not first:
            return None
        once = {text: written(value) for text, value in first.items()}
        if not any(isinstance(value, list) for value in once.values()):
            return orjson.dumps(once)
    texts = dict.fromkeys(text for each in looked_up for text in each)
    if not texts:
        return None
    return orjson.dumps({text: [written(each.get(text)) for each in looked_up] for text in texts})


async def passed(connection: Connection, seat: Seat, until: datetime) -> list[Passage]:
    """How a member came to where the member is, or was then."""
    statement = _PASSED(journey=seat.journey, since=seat.entered_at, until=until, member=seat.member, visit=seat.visit)
    rows = await connection.fetch(*statement, timeout=LONG_S)
    return [Passage(*row)._replace(looked=orjson.loads(row["looked"] or "{}")) for row in rows]


async def stood(connection: Connection, seat: Seat, until: datetime) -> tuple[int | None, datetime] | None:
    """The node to which a member had come by then, and since when."""
    statement = _STOOD(journey=seat.journey, since=seat.entered_at, until=until, member=seat.member, visit=seat.visit)
    row = await connection.fetchrow(*statement, timeout=LONG_S)
    return None if row is None else (row["to_node"], row["at"])
