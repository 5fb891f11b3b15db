"""What came of the events of campaigns, added up by day, arm and outcome. Each process adds to rows of its own."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.calendar import day_of
from abacus.engage.campaigns.decide.run import Run, RunOutcome
from abacus.engage.limits.decide.pots import Pot
from abacus.engage.limits.types import Amounts
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested


class _Sum(NamedTuple):
    """A row of `campaign_sum`."""

    campaign: str
    version: int
    day: date
    variant: str
    outcome: str
    slot: int
    events: int
    points: int
    cost: int


_ADD: Final = Statement(f"""
insert into campaign_sum as s ({columns(_Sum)})
select u.* from {unnested(_Sum)} order by u.campaign, u.version, u.day, u.variant, u.outcome
on conflict (campaign, version, day, variant, outcome, slot) do update set
    events = s.events + excluded.events, points = s.points + excluded.points, cost = s.cost + excluded.cost
""")
_DONE: Final = Statement(f"""
select u.owner_kind, u.owner, u.period, coalesce(sum(s.events), 0)::bigint, coalesce(sum(s.points), 0)::bigint,
    coalesce(sum(s.cost), 0)::bigint
from {unnested(Pot)}
join campaign_sum s on s.campaign = u.owner and s.outcome = '{RunOutcome.DONE}' and u.period in ('', s.day::text)
group by u.owner_kind, u.owner, u.period
""")


async def add_sums(connection: Connection, runs: Iterable[Run], slot: int) -> None:
    await connection.execute(*_ADD(**arrays(_Sum, _sums(runs, slot))))


async def done_before(connection: Connection, pots: Sequence[Pot]) -> Mapping[Pot, Amounts]:
    """What campaigns did in the slice of the connection, over the time of each of their pots."""
    return {Pot(*row[:3]): Amounts(*row[3:]) for row in await connection.fetch(*_DONE(**arrays(Pot, pots)))}


def _sums(runs: Iterable[Run], slot: int) -> list[_Sum]:
    sums: dict[tuple[str, int, str, str, str], list[int]] = {}
    for run in runs:
        campaign, refusal = run.matched.campaign, f"{run.outcome}:{run.refusal}" if run.refusal else run.outcome.value
        day = day_of(campaign, run.matched.event.occurred_at)
        added = sums.setdefault((campaign.name, campaign.version, day, run.variant or "", refusal), [0, 0, 0])
        for place, more in enumerate((1, run.amounts.points, run.amounts.cost)):
            added[place] += more
    return [
        _Sum(name, version, date.fromisoformat(day), variant, outcome, slot, *added)
        for (name, version, day, variant, outcome), added in sums.items()
    ]
