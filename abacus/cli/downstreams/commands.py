"""`abacus downstreams`: webhooks and services that campaigns reach, and the pace of everything that they do."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.downstreams.downstream_drafts import publish_files, read_drafts
from abacus.cli.terminal.acting import acting
from abacus.cli.terminal.draft_plans import print_faults
from abacus.cli.terminal.shell import (
    EXIT_FAILED,
    AsJson,
    console,
    counted,
    errors,
    pool,
    print_json,
    run,
    secrets,
    settings,
    table,
)
from abacus.core.clock import SystemClock
from abacus.core.errors import absent
from abacus.engage.actions.calls import call_again
from abacus.engage.downstreams.decide.asking import LONGEST_ANSWER
from abacus.engage.downstreams.decide.reading import OWN, to_document
from abacus.engage.downstreams.store import DownstreamRecord, DownstreamStore
from abacus.engage.downstreams.trial import try_downstream
from abacus.people.types.deed import Deed
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.delivery.post import Poster

app = typer.Typer(
    no_args_is_help=True, help="Webhooks and services that campaigns reach, and the pace of what they do."
)

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Downstreams, in TOML or JSON.", show_default=False)
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The downstream's name.", show_default=False)]


@app.command()
def lint(files: Files, as_json: AsJson = False) -> None:
    """Check downstreams and print every fault with its path. Needs no database."""
    run(_lint(files, as_json=as_json))


@app.command()
def publish(
    files: Files,
    yes: Annotated[bool, typer.Option("--yes", help="Publish without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish downstreams as new versions, and print the secret of each new one. It is not shown again."""
    run(publish_files(files, ask=not yes and sys.stdin.isatty(), as_json=as_json))


@app.command("list")
def list_downstreams(as_json: AsJson = False) -> None:
    """List the latest version of each downstream."""
    run(_list(as_json=as_json))


@app.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show a downstream as it was published last, with its earlier versions."""
    run(_show(name, as_json=as_json))


@app.command("test")
def send_trial(name: Name, as_json: AsJson = False) -> None:
    """Send a webhook a message of the type abacus.test, or ask a service about no event, and print the outcome.

    It is sent once. The command fails unless the answer is a 2xx, and of a service one that can be read.
    """
    run(_test(name, as_json=as_json))


@app.command("rotate-secret")
def rotate_secret(
    name: Name,
    overlap_hours: Annotated[
        float,
        typer.Option(min=0, max=24 * 90, help="Hours for which messages are also signed with the current secret."),
    ] = 24.0,
    as_json: AsJson = False,
) -> None:
    """Print a new secret. For a while each message carries two signatures, by the new secret and by the one before."""
    run(_rotate(name, overlap_hours, as_json=as_json))


@app.command()
def retire(name: Name, as_json: AsJson = False) -> None:
    """From now on nothing is sent to a webhook: what waits is refused. A service is not asked: its values are missing.

    For one of our own the pace ends.
    """
    run(_retire(name, as_json=as_json))


@app.command()
def retry(name: Name, as_json: AsJson = False) -> None:
    """Send the calls of a webhook that were given up, now and for three days more."""
    run(_retry(name, as_json=as_json))


async def _lint(files: list[Path], *, as_json: bool) -> None:
    drafts, faults = read_drafts(files)
    valid = {draft.file: f"the {draft.downstream.kind} {draft.downstream.name}" for draft in drafts}
    print_faults(valid, faults, as_json=as_json)


async def _list(*, as_json: bool) -> None:
    async with pool() as connections:
        records = await DownstreamStore(connections).latest()
    if as_json:
        print_json([_document(each) for each in records])
        return
    rows = [
        [
            each.downstream.label,
            each.downstream.kind.value,
            each.downstream.url or "–",
            "retired" if each.downstream.retired else each.downstream.pace_text or "–",
            f"{each.published_at:%Y-%m-%d %H:%M}",
            each.published_by,
        ]
        for each in records
    ]
    table("Downstreams", ["name", "kind", "url", "pace", "published", "by"], rows)


async def _show(name: str, *, as_json: bool) -> None:
    async with pool() as connections:
        history = await DownstreamStore(connections).history(name)
    if not history:
        paced = f"nothing limits the pace of {name}; " if name in OWN else ""
        raise absent("downstream", name, f"{paced}`abacus downstreams list` prints all")
    if as_json:
        print_json({"name": name, "versions": [_document(each) for each in history]})
        return
    latest = history[-1]
    document = to_document(latest.downstream) | ({"retired": True} if latest.downstream.retired else {})
    table(latest.downstream.label, ["field", "value"], [[field, str(value)] for field, value in document.items()])
    versions = [[each.downstream.label, f"{each.published_at:%Y-%m-%d %H:%M}", each.published_by] for each in history]
    table("Versions", ["version", "published", "by"], versions)


async def _test(name: str, *, as_json: bool) -> None:
    clock = SystemClock()
    poster = Poster(to_private=settings().webhooks_to_private, at_once=1, whole_up_to=LONGEST_ANSWER)
    try:
        async with pool() as connections:
            at = await acting(connections)
            at.check(Deed.PUBLISH_DOWNSTREAMS)
            all_signed = await DownstreamStore(connections).signed(clock.now())
            found = [each for each in all_signed if each.downstream.name == name and not each.downstream.retired]
            if not found:
                raise absent("downstream", name, "`abacus downstreams list` prints all")
            trial = await try_downstream(found[0], poster, secrets(), clock)
    finally:
        await poster.close()
    if as_json:
        print_json({"name": name, "url": found[0].downstream.url, **trial._asdict()})
    else:
        outcome = f"answered {trial.status}" if trial.fault is None else f"no success: {trial.fault}"
        line = f"{name} at {found[0].downstream.url}: {outcome}, after {trial.seconds:.2f} s ({trial.message_id})"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if trial.fault is not None:
        raise typer.Exit(EXIT_FAILED)


async def _rotate(name: str, overlap_hours: float, *, as_json: bool) -> None:
    secret = new_secret()
    async with pool() as connections:
        at = await acting(connections)
        also = at.does(Deed.PUBLISH_DOWNSTREAMS, f"downstream:{name}", did="rotate-secret", overlap_hours=overlap_hours)
        until = await DownstreamStore(connections, secrets()).rotate_secret(
            name, secret, overlap=timedelta(hours=overlap_hours), now=at.clock.now(), also=also
        )
    if as_json:
        print_json({"name": name, "secret": secret, "former_secret_until": until.isoformat()})
        return
    errors.print(f"the secret so far signs too until {until:%Y-%m-%d %H:%M} UTC; the new one, shown this once:")
    console.print(secret, highlight=False, soft_wrap=True)


async def _retire(name: str, *, as_json: bool) -> None:
    async with pool() as connections:
        at = await acting(connections)
        also = at.does(Deed.PUBLISH_DOWNSTREAMS, f"downstream:{name}", did="retire")
        store = DownstreamStore(connections)
        retired = await store.retire(name, by=at.actor.source, now=at.clock.now(), also=also)
    if as_json:
        print_json({"name": retired.label, "retired": True})
    else:
        typer.echo(f"{name} is retired")


async def _retry(name: str, *, as_json: bool) -> None:
    async with pool() as connections:
        at = await acting(connections)
        await at.begins(Deed.REPLAY, f"downstream:{name}", did="retry-calls")
        due = await call_again(connections, name, at.clock.now())
        if not due and not await DownstreamStore(connections).history(name):
            raise absent("downstream", name, "`abacus downstreams list` prints all")
    if as_json:
        print_json({"name": name, "due": due})
    else:
        typer.echo(f"{counted(due, 'call')} due now")


def _document(record: DownstreamRecord) -> dict[str, Any]:
    downstream = record.downstream
    return {
        "name": downstream.label,
        "downstream": to_document(downstream),
        "retired": downstream.retired,
        "published": record.published_at,
        "by": record.published_by,
    }
