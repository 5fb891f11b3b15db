"""The sums of journeys, in the slice of their members: by node and day, what happened to how many.

Writers that come at once take different slots by chance, so no row is hot. While a transaction elsewhere is open, no
row that was changed is walked over more than a sixteenth of the times.
"""

import random
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.report import Sum
from abacus.engage.journeys.decide.ways import Counted, Outcome
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.sql import Statement, arrays, columns, unnested

_SLOTS: Final = 16
_RNG: Final = random.Random()


class _Row(NamedTuple):
    """A row of `journey_sum`."""

    journey: str
    version: int
    day: date
    node: int
    arm: str
    outcome: str
    why: str
    slot: int
    members: int


_ADD: Final = Statement(f"""
insert into journey_sum as s ({columns(_Row)})
select u.* from {unnested(_Row, version="integer", node="integer", slot="integer")}
order by u.journey, u.version, u.day, u.node, u.arm, u.outcome, u.why
on conflict (journey, version, day, node, arm, outcome, why, slot) do update set members = s.members + excluded.members
""")
_SUMS: Final = Statement("""
select version, day, node, arm, outcome, why, sum(members)::bigint from journey_sum
where journey = :journey and (:version::integer is null or version = :version)
group by version, day, node, arm, outcome, why
""")
# By day, of these outcomes: at each of these nodes, and at all others together.
_DAYS: Final = Statement("""
select outcome, case when node = any(:nodes::integer[]) then node end, day, sum(members)::bigint from journey_sum
where journey = :journey and day between :since and :until and outcome = any(:outcomes::text[])
group by 1, 2, 3
""")


async def add(connection: Connection, counts: Counter[Counted], day: date) -> None:
    """At the end of the transaction in which it happened: others who count the same wait for that."""
    slot = _RNG.randrange(_SLOTS)
    rows = [
        _Row(each.journey, each.version, day, each.node, each.arm, each.outcome.value, each.why, slot, members)
        for each, members in counts.items()
    ]
    if rows:
        await connection.execute(*_ADD(**arrays(_Row, rows)))


class Tally:
    """What happened in a transaction, by day, until it is written: last of all that the transaction does, because
    others who count the same wait from then on. Who writes more than once, or something else behind it, may fall into a
    deadlock with them.
    """

    def __init__(self) -> None:
        self.days: dict[date, Counter[Counted]] = {}

    def count(self, counts: Counter[Counted], day: date) -> None:
        self.days.setdefault(day, Counter()).update(counts)

    def take(self, other: "Tally") -> None:
        """What happened in a part that has ended well."""
        for day, counts in other.days.items():
            self.count(counts, day)

    async def write(self, connection: Connection) -> None:
        for day, counts in sorted(self.days.items()):
            await add(connection, counts, day)


async def sums_of(connection: Connection, journey: str, version: int | None) -> list[Sum]:
    """Of all slices; of one version, or of all."""
    rows = await slices.sums(connection, _SUMS(journey=journey, version=version), facts=6)
    return [Sum(*row) for row in rows]


async def days_of(
    connection: Connection, journey: str, outcomes: Iterable[Outcome], nodes: Iterable[int], days: tuple[date, date]
) -> list[tuple[str, int | None, date, int]]:
    """Outcome, node, day and members of each slice, of all versions: at these nodes, and without a node at all others
    together. Both days are included.
    """
    asked = {"outcomes": [each.value for each in outcomes], "nodes": list(nodes), "since": days[0], "until": days[1]}
    rows = await slices.rows_on(connection, _DAYS(journey=journey, **asked), within_s=LONG_S)
    return [tuple(row) for row in rows]
