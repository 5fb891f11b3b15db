"""`abacus campaigns`: check, compare, publish, pause, resume, end and look at campaigns."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.campaigns.campaign_drafts import around, faultless, plan_of, publish_files, read_drafts
from abacus.cli.campaigns.campaign_drafts import submit as submit_latest
from abacus.cli.terminal.acting import acting
from abacus.cli.terminal.draft_plans import print_difference, print_faults
from abacus.cli.terminal.known import check_priced
from abacus.cli.terminal.shell import AsJson, pool, print_json, run, table
from abacus.core.errors import Refused, absent
from abacus.engage.campaigns.campaign_store import CampaignRecord, CampaignStore, Change
from abacus.engage.campaigns.decide.campaign import split_label
from abacus.engage.campaigns.decide.document import describe_changes, described, to_document, to_toml
from abacus.engage.campaigns.decide.states import Act, State
from abacus.engage.notify.renderer import rendering
from abacus.people.types.deed import Deed
from abacus.platform.database_clock import clock_of

app = typer.Typer(
    no_args_is_help=True, help="Campaigns: if this happens to a member, and that holds, then it is done, within limits."
)

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Campaigns, in TOML or JSON.", show_default=False)]
Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
Reason = Annotated[str, typer.Option(help="For the log.", show_default=False)]


@app.command()
def lint(files: Files, as_json: AsJson = False) -> None:
    """Check campaigns by what is published, and print every fault with its path."""
    run(_lint(files, as_json=as_json))


@app.command()
def diff(
    file: Annotated[Path, typer.Argument(help="A campaign, in TOML or JSON.", show_default=False)],
    against: Annotated[str | None, typer.Option(metavar="NAME@N", help="Default: the latest version.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say in words what a draft would change."""
    run(_diff(file, against, as_json=as_json))


@app.command()
def publish(
    files: Files,
    yes: Annotated[bool, typer.Option("--yes", help="Submit without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draft new versions and submit them. They run once another person has approved them."""
    run(publish_files(files, ask=not yes and sys.stdin.isatty(), as_json=as_json))


@app.command()
def submit(name: Name, as_json: AsJson = False) -> None:
    """Submit the latest version once more: it was withdrawn, or rejected."""
    run(_submit(name, as_json=as_json))


@app.command()
def withdraw(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """Take a submitted version back: it is a draft again, and cannot be approved."""
    run(_move(name, Act.WITHDRAW, reason, as_json=as_json))


@app.command()
def pause(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """Pause a campaign within a second. What happens meanwhile is not made up for."""
    run(_move(name, Act.PAUSE, reason, as_json=as_json))


@app.command()
def resume(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """Let a paused campaign run again."""
    run(_move(name, Act.RESUME, reason, as_json=as_json))


@app.command()
def end(name: Name, reason: Reason, as_json: AsJson = False) -> None:
    """End a campaign for good. What was decided before is still done."""
    run(_move(name, Act.END, reason, as_json=as_json))


@app.command("list")
def list_campaigns(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Every version of this one.")] = None,
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    country: Annotated[str | None, typer.Option(help="Only those of this country.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the latest version of each campaign, with its state."""
    run(_list(name, state, country, as_json=as_json))


@app.command()
def show(
    which: Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)],
    as_json: AsJson = False,
    as_toml: Annotated[bool, typer.Option("--toml", help="Print it as a file to edit.")] = False,
) -> None:
    """Show a campaign: the latest version, or another."""
    run(_show(which, as_json=as_json, as_toml=as_toml))


async def _lint(files: list[Path], *, as_json: bool) -> None:
    async with pool() as connections, rendering() as renderer:
        drafts, faults = await read_drafts(files, await around(connections, await acting(connections)), renderer)
    valid = {file: f"{campaign.name} of {campaign.country}" for file, campaign in drafts}
    print_faults(valid, faults, as_json=as_json)


async def _diff(file: Path, against: str | None, *, as_json: bool) -> None:
    async with pool() as connections:
        store = CampaignStore(connections)
        (draft,) = await faultless([file], await around(connections, await acting(connections)))
        if against:
            old = (await _version(store, against)).campaign
            name: str | None = old.label
            changes = describe_changes(old, draft.campaign)
        else:
            latest = {record.campaign.name: record for record in await store.latest()}
            _, name, changes = plan_of(draft, latest)
    print_difference(draft.file, name, changes, as_json=as_json)


async def _submit(name: str, *, as_json: bool) -> None:
    async with pool() as connections:
        at = await acting(connections)
        beside = await around(connections, at)
        row = await submit_latest(connections, at, name, beside, lambda text: typer.echo(text, err=as_json))
    if as_json:
        print_json(row)


async def _move(name: str, act: Act, reason: str, *, as_json: bool) -> None:
    if not reason.strip():
        raise Refused("--reason: say why")
    async with pool() as connections:
        store, at = CampaignStore(connections), await acting(connections)
        country = (await _version(store, name)).campaign.country
        also = at.does(Deed.EDIT_CAMPAIGNS, f"campaign:{name}", country=country, did=act.value, reason=reason)
        change = Change(at.actor.source, at.clock.now(), reason.strip())
        record = await store.move(name, None, act, change, also)
    state = record.state(change.now)
    if as_json:
        print_json({"name": record.campaign.label, "state": state})
    else:
        typer.echo(f"{record.campaign.label} is {state}")


async def _list(name: str | None, state: State | None, country: str | None, *, as_json: bool) -> None:
    async with pool() as connections:
        store, now = CampaignStore(connections), (await clock_of(connections)).now()
        await check_priced(connections, country)
        records = await store.latest() if name is None else await store.history(name)
    if name is not None and not records:
        raise absent("campaign", name, "`abacus campaigns list` prints all")
    rows = [
        _row(record, record.state(now))
        for record in records
        if state in {None, record.state(now)} and country in {None, record.campaign.country}
    ]
    if as_json:
        print_json(rows)
        return
    shown = ("name", "country", "on", "starts_at", "ends_at", "state")
    cells = [[", ".join(row[each]) if each == "on" else str(row[each]) for each in shown] for row in rows]
    table("Campaigns", shown, cells)


def _row(record: CampaignRecord, state: State) -> dict[str, Any]:
    return {
        **to_document(record.campaign),
        "name": record.campaign.label,
        "state": state,
        "drafted": record.drafted_at,
        "drafted_by": record.drafted_by,
        "changed": record.changed_at,
        "changed_by": record.changed_by,
        "approved_by": record.approved_by,
        "reason": record.reason,
    }


async def _show(which: str, *, as_json: bool, as_toml: bool) -> None:
    async with pool() as connections:
        record, now = await _version(CampaignStore(connections), which), (await clock_of(connections)).now()
    document = to_document(record.campaign)
    if as_json:
        print_json({"name": record.campaign.label, "state": record.state(now), "campaign": document})
    elif as_toml:
        typer.echo(to_toml(record.campaign), nl=False)
    else:
        table(record.campaign.label, ["field", "value"], [list(line) for line in described(record.campaign)])


async def _version(store: CampaignStore, label: str) -> CampaignRecord:
    """The version; without one, the latest. Raises `Refused`."""
    name, version = split_label(label)
    history = await store.history(name)
    for record in reversed(history):
        if version in {None, record.campaign.version}:
            return record
    raise absent("campaign", label, "`abacus campaigns list` prints all")
