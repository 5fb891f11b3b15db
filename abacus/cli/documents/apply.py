"""`abacus apply`: publishes every document of a directory that is not published yet."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.documents.draft_plans import Say, say_changes, unchanged
from abacus.cli.documents.house_plan import KindPlan, plan_of
from abacus.cli.terminal.answer import EXIT_FAILED, AsJson, print_json
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.core.errors import Refused

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="With a folder a kind.", show_default=False)]


async def apply(
    directory: Directory,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would change; fails if anything would.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Publish without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish the documents of DIR: cards in rates/, sources in events/, then counters/, downstreams/, categories/,
    contact/, places/, offers/, rewards/, campaigns/, journeys/, exchanges/ and accounts/.

    What needs a second person is submitted. What is published and has no file stays as it is, and is told.
    """
    ask = not yes and sys.stdin.isatty()
    say = partial(typer.echo, err=as_json)  # standard output is for the one document
    rows: list[dict[str, Any]] = []
    async with actor() as at:
        plans = await plan_of(directory, at)
        _say(plans, say)
        if not dry_run:
            _check(plans, at)
            if ask and any(plan.changing for plan in plans) and not typer.confirm("Publish?", err=True):
                raise Refused("nothing published")
            for plan in plans:
                rows += await _publish(plan, at, say)
    if as_json:
        print_json(_document(plans, rows))
    if dry_run and any(plan.changing or plan.not_in_files for plan in plans):
        raise typer.Exit(EXIT_FAILED)


def _say(plans: Sequence[KindPlan], say: Say) -> None:
    for plan in plans:
        say_changes(plan.changing, say)
        for label in plan.not_in_files:
            say(f"{plan.family.kind.word} {label} is published and has no file")
    if not any(plan.changing for plan in plans):
        say("nothing to publish")


def _check(plans: Sequence[KindPlan], at: CommandActor) -> None:
    """All rights, before anything is published. Raises `Refused`."""
    for plan in plans:
        kind = plan.family.kind
        for each in plan.changing:
            at.check(kind.deed, kind.country(each.difference.draft))


async def _publish(plan: KindPlan, at: CommandActor, say: Say) -> list[dict[str, Any]]:
    """The documents of a kind, all of them or none."""
    if not plan.changing:
        return []
    family = plan.family
    async with family.desk(at) as desk:
        desk.check_publishes(at.actor)
        outcomes = await desk.publish([each.difference for each in plan.changing], at.actor)
    rows = []
    for each, outcome in zip(plan.changing, outcomes, strict=True):
        say(family.told(outcome))
        rows.append({"kind": family.kind.word, **family.row(each, outcome)})
    return rows


def _document(plans: Sequence[KindPlan], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    changes = [
        {"kind": plan.family.kind.word, "file": each.file, "against": each.against, "changes": each.changes}
        for plan in plans
        for each in plan.changing
    ]
    missing = [{"kind": plan.family.kind.word, "name": name} for plan in plans for name in plan.not_in_files]
    same = [file for plan in plans for file in unchanged(plan.plans)]
    return {"changes": changes, "unchanged": same, "without_file": missing, "done": list(rows)}
