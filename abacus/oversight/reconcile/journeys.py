"""Visits to journeys: seats held against the sums, and against the packs in which members wait. And what was decided
there that is no action yet, or cannot be made one; and entries that are not decided.
"""

from datetime import datetime
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.ways import Outcome
from abacus.engage.journeys.seat_rows import HAS_ENTERED
from abacus.oversight.reconcile.decide.lines import Actions, ComparedCounts
from abacus.oversight.reconcile.messages import LONG_S
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, unnested

_SUMMED: Final = f"""
select coalesce(sum(members) filter (where outcome = '{Outcome.ENTERED}'), 0)::bigint,
    coalesce(sum(members) filter (where outcome = '{Outcome.LEFT}'), 0)::bigint,
    coalesce(sum(members) filter (where outcome = '{Outcome.CONVERTED}'), 0)::bigint
from journey_sum
"""
_SEATED: Final = "select count(*), count(left_at), count(converted_at) from seat"
# Who is inside is in one pack that is for what it waits for; or in one that was set aside.
_WAITING: Final = """
select count(*) from (
    select journey, awaits, version, node, turn, members, visits from pack
    union all
    select journey, awaits, version, node, turn, members, visits from pack_aside
) p cross join lateral unnest(p.members, p.visits) as u (member, visit)
join seat s on s.journey = p.journey and s.member = u.member and s.visit = u.visit and s.version = p.version
where s.left_at is null and case when p.awaits then (s.node, s.turn) = (p.node, p.turn) else s.node is null end
"""
# What is decided for a member is decided in a visit.
_VISITED: Final = """
select count(*), count(s.member) from (
    select journey, u.member, u.visit from journey_deed cross join lateral unnest(members, visits) as u (member, visit)
    union all
    select journey, member, visit from journey_deed_aside
) d left join seat s on s.journey = d.journey and s.member = d.member and s.visit = d.visit
"""
# Who has entered by what could not be decided at first waits for nothing more.
_UNDECIDED: Final = f"""
select count(*), count(*) filter (where not {HAS_ENTERED}) from journey_entry_aside u where not moves
"""
_NOT_MADE: Final = Statement("""
select journey, version, node, sum(waiting)::bigint, sum(aside)::bigint from (
    select journey, version, node, at, cardinality(members) as waiting, 0 as aside from journey_deed
    union all
    select journey, version, node, at, 0, 1 from journey_deed_aside
) d where at >= :start and at < :end group by journey, version, node
""")


class _Node(NamedTuple):
    """A node of a version."""

    journey: str
    version: int
    node: int


_KINDS: Final = Statement(f"""
select u.journey, u.version, u.node, coalesce((
    select kind from journey j join journey_node n on n.journey = j.name and n.number = u.node
    cross join lateral jsonb_object_keys(j.document -> 'nodes' -> n.node -> 'do') as kind
    where j.name = u.journey and j.version = u.version
), '')
from {unnested(_Node, version="integer", node="integer")}
""")


async def deeds_not_made(connection: Connection, start: datetime, end: datetime) -> list[Actions]:
    """What was decided in the window for members together and waits to be made actions, or is set aside. Within the
    transaction whose snapshot the account is of.
    """
    rows = await slices.sums(connection, _NOT_MADE(start=start, end=end), facts=3, within_s=LONG_S)
    nodes = [_Node(*row[:3]) for row in rows]
    kinds = {_Node(*row[:3]): row[3] for row in await connection.fetch(*_KINDS(**arrays(_Node, nodes)))}
    return [
        Actions(node.journey, kinds[node], waiting + aside, 0, waiting, 0, aside)
        for node, (*_, waiting, aside) in zip(nodes, rows, strict=True)
    ]


async def compared_visits(connection: Connection) -> list[ComparedCounts]:
    """Since the first. Within the transaction whose snapshot the account is of; none in a house without visits."""
    ((entered, left, converted),) = await slices.sums(connection, (_SUMMED,), facts=0, within_s=LONG_S)
    ((visits, over, reached),) = await slices.sums(connection, (_SEATED,), facts=0, within_s=LONG_S)
    ((waiting,),) = await slices.sums(connection, (_WAITING,), facts=0, within_s=LONG_S)
    ((undecided, outside),) = await slices.sums(connection, (_UNDECIDED,), facts=0, within_s=LONG_S)
    of_entries = ComparedCounts(
        "times that an entry waits to be decided, or is set aside", undecided, "without its visit", outside
    )
    beside = [of_entries] if undecided else []
    if not entered and not visits:
        return beside
    ((deeds, visited),) = await slices.sums(connection, (_VISITED,), facts=0, within_s=LONG_S)
    of_deeds = ComparedCounts(
        "times that something waits for a member, or is set aside", deeds, "in its visit", visited
    )
    return [
        *beside,
        *([of_deeds] if deeds else []),
        ComparedCounts("entries of journeys since they began", entered, "visits, inside or over", visits),
        ComparedCounts("members who left journeys", left, "visits that are over", over),
        ComparedCounts("members who are to be inside journeys", entered - left, "who wait in packs", waiting),
        ComparedCounts("goals of journeys that were reached", converted, "visits that are converted", reached),
    ]
