"""A kind whose versions wait for a second person and then run for a time, and the commands that move a version."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Protocol, TypeAlias, TypeVar

import typer

from abacus.cli.documents.commands import AsToml, add_diff, add_lint, add_publish, shown
from abacus.cli.documents.draft_plans import granted_document, granted_lines
from abacus.cli.documents.drafts import FilePlan
from abacus.cli.documents.family import Family
from abacus.cli.people.approvals import document as approval_document
from abacus.cli.terminal.answer import Answer, Columns, Table
from abacus.cli.terminal.command_actor import CommandActor, at_desk
from abacus.cli.terminal.known import check_priced, checked_reason
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.heading import Termed
from abacus.documents.decide.states import OUT_OF_FORCE, Act, State, Timed
from abacus.documents.kind import Around
from abacus.documents.stated import Running, Stated, stated
from abacus.documents.stated_desk import StatedDesk
from abacus.documents.types import DraftOutcome
from abacus.people.types.approval import Approval

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
StatedColumns: TypeAlias = Mapping[str, Callable[[Running], object]]  # cells of a version, from its document
Reason = Annotated[str, typer.Option(help="For the log.", show_default=False)]


class Holding(Timed, Termed, Protocol):
    """A version that holds for a term, in a country."""


Held = TypeVar("Held", bound=Holding)


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


def add_stated(
    app: CommandGroup,
    family: StatedFamily[Held, Around],
    title: str,
    *,
    moves: Mapping[Act, str],
    own: StatedColumns[Held],
    once_approved: str,
) -> None:
    """All commands of a kind. `own` are its columns in the list; `once_approved` says what its versions do then."""
    add_lint(app, family)
    add_diff(app, family)
    add_publish(
        app,
        family,
        help_=f"Draft new versions and submit them. {once_approved} once another person has approved them.",
    )
    add_moves(app, family, moves)
    columns: StatedColumns[Held] = {
        "country": lambda version: version.country,
        **own,
        "starts_at": lambda version: version.starts_at.astimezone(version.zone).isoformat(),
        "ends_at": lambda version: version.ends_at.astimezone(version.zone).isoformat(),
    }
    add_views(app, family, title, columns)


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
            grantors = family.grantors if act in OUT_OF_FORCE else None
            granted = None if grantors is None else await grantors(at.pool).standing(record.document, desk)
        document = {"name": label, "state": state}
        return Answer(document | granted_document(granted), f"{label} is {state}", *granted_lines(granted))


def add_views(
    app: CommandGroup, family: StatedFamily[Running, Around], title: str, columns: StatedColumns[Running]
) -> None:
    """`list` and `show`. In the table these columns stand between the name and the state."""

    @app.command("list", help=f"List the latest version of each {family.kind.word}, with its state.")
    async def list_versions(
        name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Every version of this one.")] = None,
        state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
        country: Annotated[str | None, typer.Option(help="Only those of this country.")] = None,
    ) -> Answer:
        kind = family.kind
        async with at_desk(family.desk) as (desk, at):
            await check_priced(at.pool, country)
            records, now = await (desk.records() if name is None else desk.versions(name)), desk.now()
        found = [
            (record, record.state(now))
            for record in map(stated, records)
            if state in {None, record.state(now)} and country in {None, kind.country(record.document)}
        ]
        readers: Columns[tuple[Stated[Running], State]] = {
            "name": lambda each: each[0].document.label,
            **{column: _of_document(read) for column, read in columns.items()},
            "state": lambda each: each[1],
        }
        return Answer([_version(family, *each) for each in found], Table.of(title, found, readers))

    @app.command(help=f"Show {family.one}: the latest version, or another.")
    async def show(
        which: Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)],
        as_toml: AsToml = False,
    ) -> Answer:
        async with at_desk(family.desk) as (desk, _):
            record, now = stated(await desk.version(which)), desk.now()
        document, state = record.document, {"state": record.state(now)}
        return shown(family, document.label, document, state, as_toml=as_toml)


def _of_document(read: Callable[[Running], object]) -> Callable[[tuple[Stated[Running], State]], object]:
    return lambda each: read(each[0].document)


def _version(family: StatedFamily[Running, Around], record: Stated[Running], state: State) -> dict[str, Any]:
    return {
        **family.kind.to_document(record.document),
        "name": record.document.label,
        "state": state,
        "drafted": record.drafted_at,
        "drafted_by": record.drafted_by,
        "changed": record.changed_at,
        "changed_by": record.changed_by,
        "approved_by": record.approved_by,
        "reason": record.reason,
    }


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
