"""A kind whose versions wait for a second person and then run for a time, and the commands that move a version."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, Any, Generic

import typer

from abacus.cli.documents.drafts import FilePlan
from abacus.cli.documents.family import Family
from abacus.cli.people.approvals import document as approval_document
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import CommandActor, at_desk
from abacus.cli.terminal.known import checked_reason
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act
from abacus.documents.kind import Around
from abacus.documents.stated import Running
from abacus.documents.stated_desk import StatedDesk
from abacus.documents.types import DraftOutcome
from abacus.people.types.approval import Approval

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
Reason = Annotated[str, typer.Option(help="For the log.", show_default=False)]


def _submitted(outcome: DraftOutcome[Any]) -> str:
    return _waits(outcome.label, outcome.approval)


def _row(plan: FilePlan[Any], outcome: DraftOutcome[Any]) -> dict[str, Any]:
    changed = {"file": plan.file, "against": plan.against, "changes": plan.changes}
    return changed | _document(outcome.label, outcome.approval)


def _done(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"submitted": rows}


@dataclass(frozen=True, kw_only=True)
class StatedFamily(Family[Running, Around], Generic[Running, Around]):
    """A published draft is submitted: a second person approves it."""

    desk: Callable[[CommandActor], AbstractAsyncContextManager[StatedDesk[Running, Around]]]
    told: Callable[[DraftOutcome[Running]], str] = _submitted
    row: Callable[[FilePlan[Running], DraftOutcome[Running]], dict[str, Any]] = _row
    done: Callable[[list[dict[str, Any]]], dict[str, Any]] = _done


def add_moves(app: CommandGroup, family: StatedFamily[Running, Around], moves: Mapping[Act, str]) -> None:
    """`submit`, and a command for each of these acts, with its help."""

    @app.command(help="Submit the latest version once more: it was withdrawn, or rejected.")
    async def submit(name: Name) -> Answer:
        async with at_desk(family.desk) as (desk, at):
            desk.check_publishes(at.actor)
            record, approval = await desk.submit(await _checked(family, desk, at, name), at.actor)
        label = record.document.label
        return Answer(_document(label, approval), _waits(label, approval))

    for act, help_ in moves.items():
        _add_move(app, family, act, help_)


def _add_move(app: CommandGroup, family: StatedFamily[Running, Around], act: Act, help_: str) -> None:
    @app.command(act.value, help=help_)
    async def move(name: Name, reason: Reason) -> Answer:
        why = checked_reason(reason)
        async with at_desk(family.desk) as (desk, at):
            record = await desk.move(await _checked(family, desk, at, name), act, why, at.actor)
            label, state = record.document.label, record.state(desk.now())
        return Answer({"name": label, "state": state}, f"{label} is {state}")


async def _checked(
    family: StatedFamily[Running, Around], desk: StatedDesk[Running, Around], at: CommandActor, name: str
) -> Running:
    """The latest version. Raises `Refused` where the actor may not move it."""
    document = (await desk.version(name)).document
    at.check(family.kind.deed, family.kind.country(document))
    return document


def _waits(label: str | None, approval: Approval | None) -> str:
    waits = approval and approval.approval_id
    return f"{label} is submitted: another person approves it with `abacus approvals approve {waits}`"


def _document(label: str | None, approval: Approval | None) -> dict[str, Any]:
    return {"name": label, "approval": approval and approval_document(approval)}
