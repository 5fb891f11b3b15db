"""Visits to journeys: seats held against the sums, and against the packs in which members wait."""

from typing import Final

from abacus.engage.journeys.decide.ways import Outcome
from abacus.oversight.reconcile.decide.lines import ComparedCounts
from abacus.oversight.reconcile.messages import LONG_S
from abacus.platform import slices
from abacus.platform.postgres import Connection

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


async def compared_visits(connection: Connection) -> list[ComparedCounts]:
    """Since the first. Within the transaction whose snapshot the account is of; none in a house without visits."""
    ((entered, left, converted),) = await slices.sums(connection, (_SUMMED,), facts=0, within_s=LONG_S)
    ((visits, over, reached),) = await slices.sums(connection, (_SEATED,), facts=0, within_s=LONG_S)
    ((waiting,),) = await slices.sums(connection, (_WAITING,), facts=0, within_s=LONG_S)
    if not entered and not visits:
        return []
    return [
        ComparedCounts("entries of journeys since they began", entered, "visits, inside or over", visits),
        ComparedCounts("members who left journeys", left, "visits that are over", over),
        ComparedCounts("members who are to be inside journeys", entered - left, "who wait in packs", waiting),
        ComparedCounts("goals of journeys that were reached", converted, "visits that are converted", reached),
    ]
