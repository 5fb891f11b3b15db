"""`abacus campaigns report`: what a campaign has done, by day and arm, against its limits."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from abacus.cli.campaigns.family import campaign_desk
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, Columns, Shown, Table, tell
from abacus.cli.terminal.command_actor import at_desk
from abacus.documents.decide.states import State
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.interval import Interval, share_interval
from abacus.engage.campaigns.report import (
    ArmLine,
    CampaignReport,
    against_control,
    faults_of,
    report_document,
    used_overall,
)
from abacus.engage.limits.types import MICROS


async def report_campaign(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
) -> Answer:
    """Report what a campaign has done: by day, arm and outcome, against its limits, and what waits."""
    async with at_desk(campaign_desk) as (desk, _):
        record, now = await desk.last_in_force(name), desk.now()
        found = await desk.report(record.document)
    faults = faults_of(found)
    tell(*map(Aside, faults))
    document = report_document(record, found, now)
    return Answer(document, *_shown(record, record.state(now), found), exit_code=EXIT_FAILED if faults else 0)


def _shown(record: CampaignRecord, state: State, found: CampaignReport) -> Iterator[str | Shown]:
    rows: list[list[Any]] = [
        [str(each.day), f"@{each.version}", each.variant or "-", each.outcome, each.events, each.points]
        for each in found.days
    ]
    seen: list[list[Any]] = [[str(day), "-", "-", "seen", events, "-"] for day, events in found.seen.items()]
    rows = sorted([*seen, *rows], key=lambda row: row[0])
    yield Table(f"{record.document.label}, {state}", ["day", "version", "arm", "outcome", "events", "points"], rows)
    if found.arms:
        columns: Columns[ArmLine] = {
            "arm": lambda each: each.variant,
            "members": lambda each: each.members,
            "conversions": lambda each: each.conversions,
            "share at 95 %": lambda each: _percent(share_interval(each.conversions, each.members)),
            "against control": lambda each: _percent(against_control(each, found.arms)),
            "points": lambda each: each.points,
        }
        yield Table.of("Arms", found.arms, columns)
    actions = [[each.kind, each.state, each.reason or "-", each.actions] for each in found.actions]
    if actions:
        yield Table("Actions", ["kind", "state", "reason", "actions"], actions)
    if found.untold:
        cells = [[each.channel, each.cause, each.messages] for each in found.untold]
        yield Table("Never told", ["channel", "because of", "messages"], cells)
    awards = sum(each.actions for each in found.actions if each.kind == "award" and each.state == "done")
    yield f"awards: {found.posted:,} posted of {awards:,} on the award queue"
    used, bound = used_overall(found), record.document.limits.overall
    for name, have, most in zip(bound._fields, used, bound, strict=True):
        if most is not None:
            yield f"{name}: {_amount(name, have)} of {_amount(name, most)} used"


def _amount(name: str, amount: int) -> str:
    return f"{amount / MICROS:,.2f}" if name == "cost" else f"{amount:,}"


def _percent(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low * 100:+.1f} to {interval.high * 100:+.1f} %"
