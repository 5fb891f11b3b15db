"""`abacus downstreams`: webhooks and services that campaigns reach, and the pace of everything that they do."""

from datetime import timedelta
from typing import Annotated, Any, Final

import typer

from abacus.cli.documents.commands import add_diff, add_lint, add_publish, cell
from abacus.cli.downstreams.family import FAMILY, downstream_desk
from abacus.cli.partners.webhooks import OverlapHours
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Columns, Secret, Table, counted
from abacus.cli.terminal.command_actor import actor, at_desk
from abacus.cli.terminal.shell import CommandGroup, settings
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

_COLUMNS: Final[Columns[Record[Downstream]]] = {
    "name": lambda each: each.document.label,
    "kind": lambda each: each.document.kind.value,
    "url": lambda each: each.document.url or "–",
    "pace": lambda each: "retired" if each.document.retired else each.document.pace_text or "–",
    "published": lambda each: cell(each.published_at),
    "by": lambda each: each.published_by,
}

add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY)


@app.command("list")
async def list_downstreams() -> Answer:
    """List the latest version of each downstream."""
    async with at_desk(FAMILY.desk) as (desk, _):
        records = await desk.records()
    return Answer([_document(each) for each in records], Table.of("Downstreams", records, _COLUMNS))


@app.command()
async def show(name: Name) -> Answer:
    """Show a downstream as it was published last, with its earlier versions."""
    async with at_desk(FAMILY.desk) as (desk, _):
        try:
            history = await desk.versions(name)
        except Absent:
            paced = f"nothing limits the pace of {name}; " if name in OWN else ""
            raise absent("downstream", name, f"{paced}`abacus downstreams list` prints all") from None
    latest = history[-1].document
    document = to_document(latest) | ({"retired": True} if latest.retired else {})
    versions = [[each.document.label, cell(each.published_at), each.published_by] for each in history]
    return Answer(
        {"name": name, "versions": [_document(each) for each in history]},
        Table(latest.label, ["field", "value"], [[field, str(value)] for field, value in document.items()]),
        Table("Versions", ["version", "published", "by"], versions),
    )


@app.command("test")
async def send_trial(name: Name) -> Answer:
    """Send a webhook a message of the type abacus.test, or ask a service about no event, and print the outcome.

    It is sent once. The command fails unless the answer is a 2xx, and of a service one that can be read.
    """
    poster = Poster(to_private=settings().webhooks_to_private, at_once=1, whole_up_to=LONGEST_ANSWER)
    try:
        async with actor() as at:
            at.check(Deed.PUBLISH_DOWNSTREAMS)
            downstream, trial = await downstream_desk(at).test(name, poster)
    finally:
        await poster.close()
    outcome = f"answered {trial.status}" if trial.fault is None else f"no success: {trial.fault}"
    line = f"{name} at {downstream.url}: {outcome}, after {trial.seconds:.2f} s ({trial.message_id})"
    exit_code = 0 if trial.fault is None else EXIT_FAILED
    return Answer({"name": name, "url": downstream.url, **trial._asdict()}, line, exit_code=exit_code)


@app.command("rotate-secret")
async def rotate_secret(name: Name, overlap_hours: OverlapHours = 24.0) -> Answer:
    """Print a new secret. For a while each message carries two signatures, by the new secret and by the one before."""
    async with actor() as at:
        at.check(Deed.PUBLISH_DOWNSTREAMS)
        secret, until = await downstream_desk(at).rotate_secret(name, timedelta(hours=overlap_hours), at.actor)
    document = {"name": name, "secret": secret, "former_secret_until": until}
    words = f"the secret so far signs too until {until:%Y-%m-%d %H:%M} UTC; the new one, shown this once"
    return Answer(document, Secret(words, secret))


@app.command()
async def retire(name: Name) -> Answer:
    """From now on nothing is sent to a webhook: what waits is refused. A service is not asked: its values are missing.

    For one of our own the pace ends.
    """
    async with actor() as at:
        at.check(Deed.PUBLISH_DOWNSTREAMS)
        retired = (await downstream_desk(at).retire(name, at.actor)).document
    return Answer({"name": retired.label, "retired": True}, f"{name} is retired")


@app.command()
async def retry(name: Name) -> Answer:
    """Send the calls of a webhook that were given up, now and for three days more."""
    async with actor() as at:
        await at.begins(Deed.REPLAY, f"downstream:{name}", did="retry-calls")
        due = await call_again(at.pool, name, at.clock.now())
        if not due:
            await downstream_desk(at).versions(name)
    return Answer({"name": name, "due": due}, f"{counted(due, 'call')} due now")


def _document(record: Record[Downstream]) -> dict[str, Any]:
    downstream = record.document
    return {
        "name": downstream.label,
        "downstream": to_document(downstream),
        "retired": downstream.retired,
        "published": record.published_at,
        "by": record.published_by,
    }
