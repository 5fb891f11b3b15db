"""`abacus campaigns report`: what a campaign has done, by day and arm, against its limits."""

from typing import Annotated

import typer

from abacus.cli.campaigns.family import acting_at_desk
from abacus.cli.terminal.shell import AsJson, console, print_json, table
from abacus.documents.decide.states import State
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.interval import Interval, share_interval
from abacus.engage.campaigns.report import CampaignReport, faults_of, used_overall
from abacus.engage.campaigns.report_document import against_control, report_document
from abacus.engage.limits.types import MICROS


async def report_campaign(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)], as_json: AsJson = False
) -> None:
    """Report what a campaign has done: by day, arm and outcome, against its limits, and what waits."""
    async with acting_at_desk() as (desk, _):
        record, now = await desk.last_in_force(name), desk.now()
        found = await desk.report(record.document)
    if as_json:
        print_json(report_document(record, found, now))
    else:
        _print(record, record.state(now), found)
    if faults := faults_of(found):
        typer.echo("\n".join(faults), err=True)
        raise typer.Exit(1)


def _print(record: CampaignRecord, state: State, found: CampaignReport) -> None:
    rows = [
        [str(each.day), f"@{each.version}", each.variant or "-", each.outcome, f"{each.events:,}", f"{each.points:,}"]
        for each in found.days
    ]
    seen = [[str(day), "-", "-", "seen", f"{events:,}", "-"] for day, events in found.seen.items()]
    columns = ["day", "version", "arm", "outcome", "events", "points"]
    table(f"{record.document.label}, {state}", columns, sorted([*seen, *rows], key=lambda row: row[0]))
    if found.arms:
        arms = [
            [
                each.variant,
                f"{each.members:,}",
                f"{each.conversions:,}",
                _percent(share_interval(each.conversions, each.members)),
                _percent(against_control(each, found)),
                f"{each.points:,}",
            ]
            for each in found.arms
        ]
        columns = ["arm", "members", "conversions", "share at 95 %", "against control", "points"]
        table("Arms", columns, arms)
    actions = [[each.kind, each.state, each.reason or "-", f"{each.actions:,}"] for each in found.actions]
    if actions:
        table("Actions", ["kind", "state", "reason", "actions"], actions)
    awards = sum(each.actions for each in found.actions if each.kind == "award" and each.state == "done")
    console.print(f"awards: {found.posted:,} posted of {awards:,} on the award queue", soft_wrap=True)
    for line in _used(record, found):
        console.print(line, soft_wrap=True)


def _used(record: CampaignRecord, found: CampaignReport) -> list[str]:
    used, bound = used_overall(found), record.document.limits.overall
    return [
        f"{name}: {_amount(name, have)} of {_amount(name, most)} used"
        for name, have, most in zip(bound._fields, used, bound, strict=True)
        if most is not None
    ]


def _amount(name: str, amount: int) -> str:
    return f"{amount / MICROS:,.2f}" if name == "cost" else f"{amount:,}"


def _percent(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low * 100:+.1f} to {interval.high * 100:+.1f} %"
