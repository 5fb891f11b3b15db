"""What a campaign has done: by day, arm and outcome, against its limits, with what waits and what was refused."""

from collections.abc import Mapping, Sequence
from datetime import date
from operator import itemgetter
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.budget import EVER
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.limits import NOTHING, Amounts
from abacus.engage.campaigns.seen import seen_by_day
from abacus.platform.postgres import Connection, Pool, pages, passing_failures, slicing_of, snapshot
from abacus.platform.sliced import in_each_slice
from abacus.platform.slicing import Slicing
from abacus.platform.sql import Statement, columns


class DayLine(NamedTuple):
    """The events of a day with one outcome, in one arm, by one version."""

    version: int
    day: date
    variant: str
    outcome: str
    events: int
    points: int
    cost: int


class ActionLine(NamedTuple):
    """The actions of one kind: those that are done, that wait, and that were refused, by the reason."""

    kind: str
    state: str
    reason: str | None
    actions: int


class ArmLine(NamedTuple):
    """The members that an arm of the split has met, and those that came to the goal; what was spent on them."""

    variant: str
    members: int
    conversions: int
    runs: int
    points: int
    cost: int


class CampaignReport(NamedTuple):
    """Of all versions of a campaign: `posted` awards stand in the ledger, `used` is what was taken of the limits that
    all members share, `seen` are the events of its types by day.
    """

    days: Sequence[DayLine]
    actions: Sequence[ActionLine]
    arms: Sequence[ArmLine]
    claims: int
    posted: int
    used: Mapping[str, Amounts]
    seen: Mapping[date, int]


class Glance(NamedTuple):
    """The parts of a report that are read by keys and sums, however much a campaign has done."""

    days: Sequence[DayLine]
    arms: Sequence[ArmLine]
    used: Mapping[str, Amounts]


_DAYS: Final = Statement(f"""
select {columns(DayLine)} from (
    select version, day, variant, outcome, sum(events)::bigint as events, sum(points)::bigint as points,
        sum(cost)::bigint as cost
    from campaign_sum where campaign = :campaign group by version, day, variant, outcome
) s order by day, version, variant, outcome
""")
_ACTIONS: Final = Statement("""
select kind, case when done_at is not null then 'done' when refused_at is not null then 'refused' else 'waiting' end
    as state, reason, count(*) from campaign_action where campaign = :campaign
group by 1, 2, 3 order by 1, 2, 3
""")
_ARMS: Final = Statement("""
select variant, count(*), count(*) filter (where events >= :goal), sum(runs)::bigint, sum(points)::bigint,
    sum(cost)::bigint
from campaign_progress where campaign = :campaign and scope = '' and variant is not null
group by variant order by variant
""")
_CLAIMS: Final = Statement("select count(*) from campaign_claim where campaign = :campaign")
_AWARDS: Final = Statement("""
select member_id, key from campaign_action where campaign = :campaign and kind = 'award' and done_at is not null
""")
_POSTED: Final = Statement("select count(*) from claim where key = any(:keys::text[])")
_USED: Final = Statement("""
select p.campaign, p.period, p.runs - coalesce(sum(s.runs), 0)::bigint, p.points - coalesce(sum(s.points), 0)::bigint,
    p.cost - coalesce(sum(s.cost), 0)::bigint
from campaign_pot p left join campaign_slot s using (campaign, period)
where campaign = any(:campaigns::text[]) and (:period::text is null or period = :period)
group by p.campaign, p.period order by p.campaign, p.period
""")


async def report(pool: Pool, campaign: Campaign) -> CampaignReport:
    """As of one moment. Raises `Unavailable`."""
    name = campaign.name
    async with snapshot(pool) as connection:
        return CampaignReport(
            days=[DayLine(*row) for row in await connection.fetch(*_DAYS(campaign=name))],
            actions=[ActionLine(*row) for row in await connection.fetch(*_ACTIONS(campaign=name))],
            arms=[ArmLine(*row) for row in await connection.fetch(*_ARMS(campaign=name, goal=campaign.goal))],
            claims=await connection.fetchval(*_CLAIMS(campaign=name)),
            posted=await _posted(connection, await slicing_of(pool), name),
            seen=await seen_by_day(connection, campaign),
            used={row[1]: Amounts(*row[2:]) for row in await connection.fetch(*_USED(campaigns=[name], period=None))},
        )


async def glance(pool: Pool, campaign: Campaign) -> Glance:
    """As of one moment. Raises `Unavailable`."""
    name = campaign.name
    async with snapshot(pool) as connection:
        return Glance(
            days=[DayLine(*row) for row in await connection.fetch(*_DAYS(campaign=name))],
            arms=[ArmLine(*row) for row in await connection.fetch(*_ARMS(campaign=name, goal=campaign.goal))],
            used={row[1]: Amounts(*row[2:]) for row in await connection.fetch(*_USED(campaigns=[name], period=None))},
        )


async def used_by(pool: Pool, names: Sequence[str]) -> Mapping[str, Amounts]:
    """What each of the campaigns has taken of its limits over its whole life. Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_USED(campaigns=list(names), period=EVER))
    return {row[0]: Amounts(*row[2:]) for row in rows}


async def _posted(connection: Connection, slicing: Slicing, campaign: str) -> int:
    """How many of the awards that were sent stand in the ledger, each looked for in the slice of its member."""
    posted = 0
    async for page in pages(connection, *_AWARDS(campaign=campaign)):
        keys = {
            slicing.home(number): [row["key"] for row in part]
            for number, part in slicing.by_slice(page, itemgetter("member_id")).items()
        }

        async def count(keys: Mapping[str | None, Sequence[str]] = keys) -> int:
            here = keys.get(connection.slice_schema)
            return int(await connection.fetchval(*_POSTED(keys=here))) if here else 0

        posted += sum(await in_each_slice(connection, count))
    return posted


def faults_of(found: CampaignReport) -> list[str]:
    """What does not come out: each event that was decided has one outcome."""
    events = sum(line.events for line in found.days)
    if events != found.claims:
        return [f"{found.claims} events are claimed, and {events} have an outcome"]
    return []


def used_overall(found: CampaignReport | Glance) -> Amounts:
    return found.used.get(EVER, NOTHING)
