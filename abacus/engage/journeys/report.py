"""What became of the members of a journey, read from its sums; and of members who left, where they would still wait."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from abacus.engage.campaigns.decide.interval import Interval
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.report import (
    Glance,
    JourneyReport,
    against_control,
    glance_of,
    report_of,
)
from abacus.engage.journeys.sum_rows import sums_of
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, snapshot
from abacus.platform.sql import Statement

# Who was fetched out of a wait that nobody could tell is in the trail, and stays in its pack until that is due.
_FETCHED: Final = Statement("""
select w.version, w.node, count(*) from (
    select p.version, p.node, u.member, u.visit
    from pack p cross join lateral unnest(p.members, p.visits) as u (member, visit)
    where p.journey = :journey and not p.awaits
) w join (
    select u.member, u.visit
    from journey_trail t cross join lateral unnest(t.members, t.visits) as u (member, visit)
    where t.journey = :journey and t.node is null and t.why is not null
) f using (member, visit)
group by w.version, w.node
""")


async def report(pool: Pool, history: Sequence[Journey], days: tuple[date, date], version: int | None) -> JourneyReport:
    """Of one version or of all, on these days, both included, as of one moment. `history` has the versions in their
    order. Raises `Unavailable`.
    """
    newest = next((each for each in history if each.version == version), history[-1])
    names = {node.number: name for journey in history for name, node in journey.nodes.items()}
    async with snapshot(pool) as connection:
        sums = await sums_of(connection, newest.name, version)
        fetched = await _fetched(connection, newest.name, version) if glance_of(sums).fetched else {}
    return report_of(newest, names, sums, fetched, days)


async def glance(pool: Pool, name: str, version: int | None = None) -> Glance:
    """The live counts of a journey. Raises `Unavailable`."""
    async with snapshot(pool) as connection:
        return glance_of(await sums_of(connection, name, version))


async def _fetched(connection: Connection, name: str, version: int | None) -> Mapping[int, int]:
    counts: dict[int, int] = {}
    for of_version, node, members in await slices.sums(connection, _FETCHED(journey=name), facts=2):
        if version in {None, of_version}:
            counts[node] = counts.get(node, 0) + members
    return counts


def report_document(journey: Journey, found: JourneyReport, days: tuple[date, date]) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "journey": journey.name,
        "from": str(days[0]),
        "to": str(days[1]),
        "entered": found.entered,
        "inside": found.inside,
        "left": found.left,
        "converted": found.converted,
        "share": found.converted / found.entered if found.entered else None,
        "interval": _document_of(found.interval),
        "nodes": [each._asdict() for each in found.nodes],
        "days": [{**each._asdict(), "day": str(each.day)} for each in found.days],
        "arms": [
            {
                **each._asdict(),
                "share": each.conversions / each.members if each.members else None,
                "interval": _document_of(each.interval),
                "against_control": _document_of(against_control(each, found.arms)),
            }
            for each in found.arms
        ],
    }


def _document_of(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else interval._asdict()
