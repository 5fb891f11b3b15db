"""`abacus campaigns`: check, compare, publish, pause, resume, end and look at campaigns."""

from typing import Annotated, Any

import typer

from abacus.cli.campaigns.family import FAMILY, campaign_desk
from abacus.cli.documents.commands import AsToml, add_diff, add_lint, add_publish, shown
from abacus.cli.documents.stated_family import add_moves
from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.known import check_priced
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act, State
from abacus.documents.stated import stated
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.document import to_document

app = CommandGroup(
    no_args_is_help=True, help="Campaigns: if this happens to a member, and that holds, then it is done, within limits."
)


add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY, help_="Draft new versions and submit them. They run once another person has approved them.")


add_moves(
    app,
    FAMILY,
    {
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause a campaign within a second. What happens meanwhile is not made up for.",
        Act.RESUME: "Let a paused campaign run again.",
        Act.END: "End a campaign for good. What was decided before is still done.",
    },
)


@app.command("list")
async def list_campaigns(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Every version of this one.")] = None,
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    country: Annotated[str | None, typer.Option(help="Only those of this country.")] = None,
) -> Answer:
    """List the latest version of each campaign, with its state."""
    async with at_desk(campaign_desk) as (desk, at):
        await check_priced(at.pool, country)
        records, now = await (desk.records() if name is None else desk.versions(name)), desk.now()
    rows = [
        _row(record, record.state(now))
        for record in map(stated, records)
        if state in {None, record.state(now)} and country in {None, record.document.country}
    ]
    columns = ("name", "country", "on", "starts_at", "ends_at", "state")
    cells = [[", ".join(row[each]) if each == "on" else str(row[each]) for each in columns] for row in rows]
    return Answer(rows, Table("Campaigns", columns, cells))


@app.command()
async def show(
    which: Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)],
    as_toml: AsToml = False,
) -> Answer:
    """Show a campaign: the latest version, or another."""
    async with at_desk(campaign_desk) as (desk, _):
        record, now = stated(await desk.version(which)), desk.now()
    campaign, state = record.document, {"state": record.state(now)}
    return shown(FAMILY, campaign.label, campaign, state, as_toml=as_toml)


def _row(record: CampaignRecord, state: State) -> dict[str, Any]:
    return {
        **to_document(record.document),
        "name": record.document.label,
        "state": state,
        "drafted": record.drafted_at,
        "drafted_by": record.drafted_by,
        "changed": record.changed_at,
        "changed_by": record.changed_by,
        "approved_by": record.approved_by,
        "reason": record.reason,
    }
