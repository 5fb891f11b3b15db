"""What a campaign has done: by day, arm and outcome, against its limits, with what waits and what was refused."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple

from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.campaign import CONTROL, LIMIT_WORDS, OWNER_KIND, Campaign
from abacus.engage.campaigns.decide.interval import Interval, difference_interval, share_interval
from abacus.engage.campaigns.seen import seen_by_day
from abacus.engage.limits.decide.limit_reader import limits_document
from abacus.engage.limits.decide.pots import EVER
from abacus.engage.limits.pot_rows import used
from abacus.engage.limits.types import MICROS, NOTHING, Amounts
from abacus.engage.notify.contact_rows import UntoldSum, untold_by
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection, Pool, snapshot
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


class DayCount(NamedTuple):
    """The events of a day with one outcome, whatever its reason, in one arm or in all that were not asked for."""

    outcome: str
    variant: str | None
    day: date
    events: int
    points: int


class ActionLine(NamedTuple):
    """The actions of one kind: how many are done, wait, and were refused, by the reason."""

    kind: str
    state: str
    reason: str | None
    actions: int


class ArmLine(NamedTuple):
    """How many members an arm of the split has met, how many came to the goal, and what was spent on them."""

    variant: str
    members: int
    conversions: int
    runs: int
    points: int
    cost: int


class CampaignReport(NamedTuple):
    """Of all versions of a campaign: `posted` awards stand in the ledger, `used` is what was taken of the limits that
    all members share, `seen` are the events of its types by day, `untold` what members were never told.
    """

    days: Sequence[DayLine]
    actions: Sequence[ActionLine]
    arms: Sequence[ArmLine]
    claims: int
    posted: int
    used: Mapping[str, Amounts]
    seen: Mapping[date, int]
    untold: Sequence[UntoldSum] = ()


class Glance(NamedTuple):
    """The parts of a report that are read by keys and sums, however much a campaign has done. The arms are None where
    so many members have one that only the report counts them.
    """

    days: Sequence[DayLine]
    arms: Sequence[ArmLine] | None
    used: Mapping[str, Amounts]


MOST_AT_A_GLANCE: Final = 50_000  # members with an arm


_OWN: Final = f"owner_kind = '{OWNER_KIND}' and owner = :campaign"
_DAYS: Final = Statement(f"""
select {columns(DayLine)} from (
    select version, day, variant, outcome, sum(events)::bigint as events, sum(points)::bigint as points,
        sum(cost)::bigint as cost
    from campaign_sum where campaign = :campaign group by version, day, variant, outcome
) s
""")
_DAY_COUNTS: Final = Statement("""
select split_part(outcome, ':', 1), case when variant = any(:arms::text[]) then variant end, day,
    sum(events)::bigint, sum(points)::bigint
from campaign_sum where campaign = :campaign and day between :since and :until group by 1, 2, 3
""")
_ACTIONS: Final = Statement(f"""
select kind, case when done_at is not null then 'done' when refused_at is not null then 'refused' else 'waiting' end,
    reason, count(*)
from action where {_OWN} group by 1, 2, 3
""")
_ARMS: Final = Statement("""
select variant, count(*), count(*) filter (where events >= :goal), sum(runs)::bigint, sum(points)::bigint,
    sum(cost)::bigint
from (
    select * from campaign_progress where campaign = :campaign and scope = '' and variant is not null limit :most
) p
group by variant
""")
_CLAIMS: Final = Statement("select count(*) from campaign_claim where campaign = :campaign")
_POSTED: Final = Statement(f"""
select count(*) from action a
where {_OWN} and kind = 'award' and done_at is not null
    and exists (select from claim c where c.key = a.key)
""")


async def report(pool: Pool, campaign: Campaign) -> CampaignReport:
    """As of one moment; on several servers, each server's. Raises `Unavailable`."""
    name = campaign.name
    async with snapshot(pool) as connection:
        days, taken = await days_of(connection, name), await _used(connection, name)
        arms = await _arms(connection, campaign, None)
        actions = await slices.sums(connection, _ACTIONS(campaign=name), facts=3)
        ((claims,),) = await slices.sums(connection, _CLAIMS(campaign=name), facts=0)
        ((posted,),) = await slices.sums(connection, _POSTED(campaign=name), facts=0)
        seen, untold = await seen_by_day(connection, campaign), await untold_by(connection, name)
    return CampaignReport(days, [ActionLine(*row) for row in actions], arms, claims, posted, taken, seen, untold)


async def glance(pool: Pool, campaign: Campaign, *, most: int = MOST_AT_A_GLANCE) -> Glance:
    """As of one moment; on several servers, each server's. Raises `Unavailable`."""
    name = campaign.name
    async with snapshot(pool) as connection:
        days, taken = await days_of(connection, name), await _used(connection, name)
        arms = await _arms(connection, campaign, most + 1)
    return Glance(days, arms if sum(each.members for each in arms) <= most else None, taken)


async def used_by(pool: Pool, names: Sequence[str]) -> Mapping[str, Amounts]:
    """What each of the campaigns has taken of its limits over its whole life. Raises `Unavailable`."""
    async with snapshot(pool) as connection:
        return {pot.owner: amounts for pot, amounts in (await used(connection, OWNER_KIND, names, [EVER])).items()}


async def days_of(connection: Connection, name: str) -> Sequence[DayLine]:
    """What came of the events of a campaign, of all versions."""
    days = [DayLine(*row) for row in await slices.sums(connection, _DAYS(campaign=name), facts=4)]
    return sorted(days, key=lambda line: (line.day, line.version, line.variant, line.outcome))


async def day_counts(
    connection: Connection, name: str, arms: Iterable[str], since: date, until: date
) -> Sequence[DayCount]:
    """Of each slice, by all versions: in these arms, and without an arm in all others together. Both days are
    included.
    """
    asked = {"arms": list(arms), "since": since, "until": until}
    rows = await slices.rows_on(connection, _DAY_COUNTS(campaign=name, **asked), within_s=LONG_S)
    return [DayCount(*row) for row in rows]


async def _used(connection: Connection, name: str) -> Mapping[str, Amounts]:
    return {pot.period: amounts for pot, amounts in (await used(connection, OWNER_KIND, [name], None)).items()}


async def _arms(connection: Connection, campaign: Campaign, most: int | None) -> Sequence[ArmLine]:
    """Of the first so many members of each slice, or of all."""
    statement = _ARMS(campaign=campaign.name, goal=campaign.goal, most=most)
    return [ArmLine(*row) for row in await slices.sums(connection, statement, facts=1)]


def faults_of(found: CampaignReport) -> list[str]:
    """What does not come out: each event that was decided has one outcome."""
    events = sum(line.events for line in found.days)
    if events != found.claims:
        return [f"{found.claims} events are claimed, and {events} have an outcome"]
    return []


def used_overall(found: CampaignReport | Glance) -> Amounts:
    return found.used.get(EVER, NOTHING)


def report_document(record: CampaignRecord, found: CampaignReport, now: datetime) -> dict[str, Any]:
    """The report as JSON."""
    used = used_overall(found)
    return {
        "campaign": record.document.label,
        "state": record.state(now),
        "limits": limits_document(record.document.limits, LIMIT_WORDS),
        "used": {"runs": used.runs, "points": used.points, "cost": used.cost / MICROS},
        "events": found.claims,
        "posted": found.posted,
        "seen": {str(day): events for day, events in found.seen.items()},
        "days": [{**line._asdict(), "cost": line.cost / MICROS} for line in found.days],
        "actions": [line._asdict() for line in found.actions],
        "arms": [_arm(line, found) for line in found.arms],
        "untold": [line._asdict() for line in found.untold],
        "comes_out": not faults_of(found),
    }


def _arm(line: ArmLine, found: CampaignReport) -> dict[str, Any]:
    return {
        **line._asdict(),
        "cost": line.cost / MICROS,
        "share": line.conversions / line.members if line.members else None,
        "interval": _document_of(share_interval(line.conversions, line.members)),
        "against_control": _document_of(against_control(line, found.arms)),
    }


def _document_of(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else interval._asdict()


def against_control(line: ArmLine, arms: Sequence[ArmLine]) -> Interval | None:
    """How much greater the share of conversions is than without the campaign."""
    control = next((each for each in arms if each.variant == CONTROL), None)
    if control is None or line.variant == CONTROL:
        return None
    return difference_interval(line.conversions, line.members, control.conversions, control.members)
