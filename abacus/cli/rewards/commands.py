"""`abacus rewards`: check, compare, publish, pause, resume, end and look at rewards."""

from typing import Annotated, Any

import typer

from abacus.cli.documents.commands import AsToml, add_diff, add_lint, add_publish, shown
from abacus.cli.documents.stated_family import add_moves
from abacus.cli.rewards.family import FAMILY, reward_desk
from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.known import check_priced
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act, State
from abacus.documents.stated import stated
from abacus.engage.rewards.decide.reward_document import to_document
from abacus.engage.rewards.reward_store import RewardRecord

app = CommandGroup(
    no_args_is_help=True, help="Rewards: what points buy, delivered as a code of a pool or by a fulfiller."
)


add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY, help_="Draft new versions and submit them. They hold once another person has approved them.")


add_moves(
    app,
    FAMILY,
    {
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause a reward within a second. What was redeemed before is still delivered.",
        Act.RESUME: "Offer a paused reward again.",
        Act.END: "End a reward for good. What was redeemed before is still delivered.",
    },
)


@app.command("list")
async def list_rewards(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Every version of this one.")] = None,
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    country: Annotated[str | None, typer.Option(help="Only those of this country.")] = None,
) -> Answer:
    """List the latest version of each reward, with its state."""
    async with at_desk(reward_desk) as (desk, at):
        await check_priced(at.pool, country)
        records, now = await (desk.records() if name is None else desk.versions(name)), desk.now()
    found = [stated(each) for each in records]
    listed = [
        (each, each.state(now))
        for each in found
        if (state is None or each.state(now) is state) and country in {None, each.document.country}
    ]
    rows = [_row(each, at_state) for each, at_state in listed]
    columns = ("name", "country", "points", "starts_at", "ends_at", "state")
    cells = [[str(row[each]) for each in columns] for row in rows]
    return Answer(rows, Table("Rewards", columns, cells))


@app.command()
async def show(
    which: Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)],
    as_toml: AsToml = False,
) -> Answer:
    """Show a reward: the latest version, or another."""
    async with at_desk(reward_desk) as (desk, _):
        record, now = stated(await desk.version(which)), desk.now()
    reward, state = record.document, {"state": record.state(now)}
    return shown(FAMILY, reward.label, reward, state, as_toml=as_toml)


def _row(record: RewardRecord, state: State) -> dict[str, Any]:
    return {
        **to_document(record.document),
        "name": record.document.label,
        "points": record.document.price.points,
        "state": state,
        "drafted": record.drafted_at,
        "drafted_by": record.drafted_by,
        "changed": record.changed_at,
        "changed_by": record.changed_by,
        "approved_by": record.approved_by,
        "reason": record.reason,
    }
