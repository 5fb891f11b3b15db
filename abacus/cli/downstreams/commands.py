"""`abacus downstreams`: webhooks and services that campaigns reach, and the pace of everything that they do."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from abacus.cli.documents.commands import add_diff, add_lint, add_publish, cell, opened
from abacus.cli.downstreams.family import FAMILY, downstream_desk
from abacus.cli.terminal.command_actor import acting
from abacus.cli.terminal.shell import (
    EXIT_FAILED,
    AsJson,
    CommandGroup,
    console,
    counted,
    errors,
    pool,
    print_json,
    settings,
    table,
)
from abacus.core.errors import Absent, absent
from abacus.documents.types import Record
from abacus.engage.actions.calls import call_again
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.decide.downstream_document import OWN, to_document
from abacus.engage.downstreams.decide.question import LONGEST_ANSWER
from abacus.people.types.deed import Deed
from abacus.platform.delivery.post import Poster

app = CommandGroup(
    no_args_is_help=True, help="Webhooks and services that campaigns reach, and the pace of what they do."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The downstream's name.", show_default=False)]


add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY)


@app.command("list")
async def list_downstreams(as_json: AsJson = False) -> None:
    """List the latest version of each downstream."""
    async with opened(FAMILY) as (desk, _):
        records = await desk.records()
    if as_json:
        print_json([_document(each) for each in records])
        return
    rows = [
        [
            each.document.label,
            each.document.kind.value,
            each.document.url or "–",
            "retired" if each.document.retired else each.document.pace_text or "–",
            cell(each.published_at),
            each.published_by,
        ]
        for each in records
    ]
    table("Downstreams", ["name", "kind", "url", "pace", "published", "by"], rows)


@app.command()
async def show(name: Name, as_json: AsJson = False) -> None:
    """Show a downstream as it was published last, with its earlier versions."""
    async with opened(FAMILY) as (desk, _):
        try:
            history = await desk.versions(name)
        except Absent:
            paced = f"nothing limits the pace of {name}; " if name in OWN else ""
            raise absent("downstream", name, f"{paced}`abacus downstreams list` prints all") from None
    if as_json:
        print_json({"name": name, "versions": [_document(each) for each in history]})
        return
    latest = history[-1].document
    document = to_document(latest) | ({"retired": True} if latest.retired else {})
    table(latest.label, ["field", "value"], [[field, str(value)] for field, value in document.items()])
    versions = [[each.document.label, cell(each.published_at), each.published_by] for each in history]
    table("Versions", ["version", "published", "by"], versions)


@app.command("test")
async def send_trial(name: Name, as_json: AsJson = False) -> None:
    """Send a webhook a message of the type abacus.test, or ask a service about no event, and print the outcome.

    It is sent once. The command fails unless the answer is a 2xx, and of a service one that can be read.
    """
    poster = Poster(to_private=settings().webhooks_to_private, at_once=1, whole_up_to=LONGEST_ANSWER)
    try:
        async with pool() as connections:
            at = await acting(connections)
            at.check(Deed.PUBLISH_DOWNSTREAMS)
            downstream, trial = await downstream_desk(at).test(name, poster)
    finally:
        await poster.close()
    if as_json:
        print_json({"name": name, "url": downstream.url, **trial._asdict()})
    else:
        outcome = f"answered {trial.status}" if trial.fault is None else f"no success: {trial.fault}"
        line = f"{name} at {downstream.url}: {outcome}, after {trial.seconds:.2f} s ({trial.message_id})"
        console.print(line, soft_wrap=True)
    if trial.fault is not None:
        raise typer.Exit(EXIT_FAILED)


@app.command("rotate-secret")
async def rotate_secret(
    name: Name,
    overlap_hours: Annotated[
        float,
        typer.Option(min=0, max=24 * 90, help="Hours for which messages are also signed with the current secret."),
    ] = 24.0,
    as_json: AsJson = False,
) -> None:
    """Print a new secret. For a while each message carries two signatures, by the new secret and by the one before."""
    async with pool() as connections:
        at = await acting(connections)
        at.check(Deed.PUBLISH_DOWNSTREAMS)
        secret, until = await downstream_desk(at).rotate_secret(name, timedelta(hours=overlap_hours), at.actor)
    if as_json:
        print_json({"name": name, "secret": secret, "former_secret_until": until.isoformat()})
        return
    errors.print(f"the secret so far signs too until {until:%Y-%m-%d %H:%M} UTC; the new one, shown this once:")
    console.print(secret, soft_wrap=True)


@app.command()
async def retire(name: Name, as_json: AsJson = False) -> None:
    """From now on nothing is sent to a webhook: what waits is refused. A service is not asked: its values are missing.

    For one of our own the pace ends.
    """
    async with pool() as connections:
        at = await acting(connections)
        at.check(Deed.PUBLISH_DOWNSTREAMS)
        retired = (await downstream_desk(at).retire(name, at.actor)).document
    if as_json:
        print_json({"name": retired.label, "retired": True})
    else:
        typer.echo(f"{name} is retired")


@app.command()
async def retry(name: Name, as_json: AsJson = False) -> None:
    """Send the calls of a webhook that were given up, now and for three days more."""
    async with pool() as connections:
        at = await acting(connections)
        await at.begins(Deed.REPLAY, f"downstream:{name}", did="retry-calls")
        due = await call_again(connections, name, at.clock.now())
        if not due:
            await downstream_desk(at).versions(name)
    if as_json:
        print_json({"name": name, "due": due})
    else:
        typer.echo(f"{counted(due, 'call')} due now")


def _document(record: Record[Downstream]) -> dict[str, Any]:
    downstream = record.document
    return {
        "name": downstream.label,
        "downstream": to_document(downstream),
        "retired": downstream.retired,
        "published": record.published_at,
        "by": record.published_by,
    }
