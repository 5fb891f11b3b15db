"""`abacus campaigns`: check, compare, publish, pause, resume, end and look at campaigns."""

from typing import Annotated, Any

import typer

from abacus.cli.campaigns.family import FAMILY, acting_at_desk
from abacus.cli.documents.commands import AsToml, add_diff, add_lint, add_publish, print_document
from abacus.cli.documents.submissions import submission, submitted
from abacus.cli.terminal.known import check_priced
from abacus.cli.terminal.shell import AsJson, CommandGroup, print_json, table
from abacus.core.errors import Refused
from abacus.documents.decide.states import Act, State
from abacus.documents.stated import stated
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.document import to_document
from abacus.engage.campaigns.kind import CAMPAIGNS

app = CommandGroup(
    no_args_is_help=True, help="Campaigns: if this happens to a member, and that holds, then it is done, within limits."
)

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
Reason = Annotated[str, typer.Option(help="For the log.", show_default=False)]


add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY, help_="Draft new versions and submit them. They run once another person has approved them.")


@app.command()
async def submit(name: Name, as_json: AsJson = False) -> None:
    """Submit the latest version once more: it was withdrawn, or rejected."""
    async with acting_at_desk() as (desk, at):
        desk.check_publishes(at.actor)
        campaign = (await desk.version(name)).document
        at.check(CAMPAIGNS.deed, campaign.country)
        record, approval = await desk.submit(campaign, at.actor)
    typer.echo(submitted(record.document.label, approval), err=as_json)
    if as_json:
        print_json(submission(record.document.label, approval))


@app.command()
async def withdraw(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """Take a submitted version back: it is a draft again, and cannot be approved."""
    await _move(name, Act.WITHDRAW, reason, as_json=as_json)


@app.command()
async def pause(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """Pause a campaign within a second. What happens meanwhile is not made up for."""
    await _move(name, Act.PAUSE, reason, as_json=as_json)


@app.command()
async def resume(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """Let a paused campaign run again."""
    await _move(name, Act.RESUME, reason, as_json=as_json)


@app.command()
async def end(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """End a campaign for good. What was decided before is still done."""
    await _move(name, Act.END, reason, as_json=as_json)


@app.command("list")
async def list_campaigns(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Every version of this one.")] = None,
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    country: Annotated[str | None, typer.Option(help="Only those of this country.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the latest version of each campaign, with its state."""
    async with acting_at_desk() as (desk, at):
        await check_priced(at.pool, country)
        records, now = await (desk.records() if name is None else desk.versions(name)), desk.now()
    rows = [
        _row(record, record.state(now))
        for record in map(stated, records)
        if state in {None, record.state(now)} and country in {None, record.document.country}
    ]
    if as_json:
        print_json(rows)
        return
    shown = ("name", "country", "on", "starts_at", "ends_at", "state")
    cells = [[", ".join(row[each]) if each == "on" else str(row[each]) for each in shown] for row in rows]
    table("Campaigns", shown, cells)


@app.command()
async def show(
    which: Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)],
    as_json: AsJson = False,
    as_toml: AsToml = False,
) -> None:
    """Show a campaign: the latest version, or another."""
    async with acting_at_desk() as (desk, _):
        record, now = stated(await desk.version(which)), desk.now()
    campaign, state = record.document, {"state": record.state(now)}
    print_document(FAMILY, campaign.label, campaign, state, as_json=as_json, as_toml=as_toml)


async def _move(name: str, act: Act, reason: str, *, as_json: bool) -> None:
    if not reason.strip():
        raise Refused("--reason: say why")
    async with acting_at_desk() as (desk, at):
        campaign = (await desk.version(name)).document
        at.check(CAMPAIGNS.deed, campaign.country)
        record = await desk.move(campaign, act, reason.strip(), at.actor)
        state = record.state(desk.now())
    if as_json:
        print_json({"name": record.document.label, "state": state})
    else:
        typer.echo(f"{record.document.label} is {state}")


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
