"""The commands of a kind: lint, diff, publish, list and show."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.documents.draft_plans import agreed, compared, linted, unchanged
from abacus.cli.documents.drafts import FileDraft, Judged, faultless, file_plans, judged_by, read_drafts
from abacus.cli.documents.family import Family, Rows
from abacus.cli.terminal.answer import Answer, AsJson, Raw, Table, print_json
from abacus.cli.terminal.command_actor import CommandActor, at_desk
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.errors import Refused
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.types import Document

Yes = Annotated[bool, typer.Option("--yes", help="Publish without asking. Only a terminal is asked.")]
AsToml = Annotated[bool, typer.Option("--toml", help="Print it as a file to edit.")]


def add_commands(app: CommandGroup, family: Family[Document, Around], rows: Rows[Document]) -> None:
    """All of them, for a kind without a wish of its own."""
    add_lint(app, family)
    add_diff(app, family)
    add_publish(app, family)
    add_list(app, family, rows)
    add_show(app, family)


def files_argument(family: Family[Document, Around]) -> Any:
    return typer.Argument(metavar="FILE...", help=family.files, show_default=False)


def add_lint(app: CommandGroup, family: Family[Document, Around]) -> None:
    without = " Needs no database." if family.offline else ""

    @app.command(help=f"Check {family.drafts} and print every fault with its path.{without}")
    async def lint(
        files: Annotated[list[Path], files_argument(family)],
    ) -> Answer:
        return await lint_files(family, files)


def add_diff(app: CommandGroup, family: Family[Document, Around]) -> None:
    version = f"{family.metavar}@N"

    @app.command(help=f"Say in words what {family.one} would change.")
    async def diff(
        file: Annotated[Path, typer.Argument(help=f"{family.one.capitalize()}, in TOML or JSON.", show_default=False)],
        against: Annotated[str | None, typer.Option(metavar=version, help=f"Default: {family.against}.")] = None,
    ) -> Answer:
        kind = family.kind
        async with at_desk(family.desk) as (desk, at):
            (draft,) = await faultless([file], kind, await judged_by(desk))
            if against is None:
                (difference,) = await desk.differences([draft.document])
                name, changes = difference.against, difference.changes
            else:
                old = await desk.version(against)
                name, changes = kind.label(old), kind.changes(old.document, draft.document)
            granted = await family.grantors(at.pool).beside(draft.document, desk.now()) if family.grantors else None
        return compared(draft.file, name, changes, granted)


def add_publish(app: CommandGroup, family: Family[Document, Around], *, help_: str | None = None) -> None:
    usual = f"Publish {family.drafts} as new versions. A fault in any of them, and none is published."

    @app.command(help=help_ or usual)
    async def publish(
        files: Annotated[list[Path], files_argument(family)],
        yes: Yes = False,
        as_json: AsJson = False,
    ) -> None:
        ask = not yes and sys.stdin.isatty()
        async with at_desk(family.desk) as (desk, at):
            desk.check_publishes(at.actor)
            drafts = await faultless(files, family.kind, await judged_by(desk))
            await publish_drafts(family, desk, at, drafts, ask=ask, as_json=as_json)


def add_list(app: CommandGroup, family: Family[Document, Around], rows: Rows[Document]) -> None:
    metavar = f"[{family.metavar}]"

    @app.command("list", help=f"List the {family.drafts} in force.")
    async def list_documents(
        name: Annotated[str | None, typer.Argument(metavar=metavar, help="Every version of this one.")] = None,
    ) -> Answer:
        async with at_desk(family.desk) as (desk, _):
            found = [rows.row(record) for record in await (desk.records() if name is None else desk.versions(name))]
        cells = [[cell(row[column]) for column in rows.columns] for row in found]
        return Answer(found, Table(rows.title, rows.columns, cells))


def add_show(app: CommandGroup, family: Family[Document, Around]) -> None:
    metavar = f"{family.metavar}[@N]{'|FILE' if family.offline else ''}"
    which_ones = "the latest version, another, or a file" if family.offline else "the latest version, or another"

    @app.command(help=f"Show {family.one}: {which_ones}.")
    async def show(
        which: Annotated[str, typer.Argument(metavar=metavar, show_default=False)],
        as_toml: AsToml = False,
    ) -> Answer:
        label, document = await _of_file(family, which) or await _published(family, which)
        return shown(family, label, document, {}, as_toml=as_toml, title=which)


async def lint_files(family: Family[Document, Around], files: Sequence[Path]) -> Answer:
    if family.offline is not None:
        return await lint_beside(family, files, Judged(family.kind.read, family.offline(), {}))
    async with at_desk(family.desk) as (desk, _):
        return await lint_beside(family, files, await judged_by(desk))


async def lint_beside(
    family: Family[Document, Around], files: Sequence[Path], judged: Judged[Document, Around]
) -> Answer:
    drafts, faults = await read_drafts(files, family.kind, judged)
    return linted({draft.file: family.sentence(draft.document) for draft in drafts}, faults)


async def publish_drafts(
    family: Family[Document, Around],
    desk: DocumentDesk[Document, Around],
    at: CommandActor,
    drafts: Sequence[FileDraft[Document]],
    *,
    ask: bool,
    as_json: bool,
) -> None:
    say, kind = partial(typer.echo, err=as_json), family.kind  # standard output is for the one document
    for draft in drafts:
        at.check(kind.deed, kind.country(draft.document))
    plans = file_plans(drafts, await desk.differences([draft.document for draft in drafts]))
    changing = agreed(plans, family.nothing_new, ask=ask, say=say)
    outcomes = await desk.publish([plan.difference for plan in changing], at.actor)
    rows = []
    for plan, outcome in zip(changing, outcomes, strict=True):
        say(family.told(outcome))
        if not as_json:
            family.afterwards(outcome)
        rows.append(family.row(plan, outcome))
    if as_json:
        print_json({**family.done(rows), "unchanged": unchanged(plans)})


def shown(
    family: Family[Document, Around],
    label: str | None,
    document: Document,
    more: Mapping[str, Any],
    *tables: Table,
    as_toml: bool,
    title: str = "",
) -> Answer:
    """`more` is for JSON alone, `tables` for people. A document of a file has no label, and the file's name for a
    title.
    """
    kind = family.kind
    told = {"name": label, kind.word: kind.to_document(document), **more}
    if as_toml:
        return Answer(told, Raw(kind.to_toml(document)))
    fields = [list(line) for line in kind.described(document)]
    return Answer(told, Table(label or title, ["field", "value"], fields), *tables)


async def _of_file(family: Family[Document, Around], which: str) -> tuple[None, Document] | None:
    """The document of a file, which has no name yet. A word that can be a name is a name."""
    kind = family.kind
    if family.offline is None or _names_one(kind, which):
        return None
    (draft,) = await faultless([Path(which)], kind, Judged(kind.read, family.offline(), {}))
    return None, draft.document


def _names_one(kind: DocumentKind[Any, Any], which: str) -> bool:
    """Whether it can be a name, or is no file either."""
    try:
        kind.split_label(which)
    except Refused:
        return not Path(which).exists()
    return True


async def _published(family: Family[Document, Around], which: str) -> tuple[str, Document]:
    async with at_desk(family.desk) as (desk, _):
        record = await desk.version(which)
    return family.kind.label(record), record.document


def cell(value: Any) -> str:
    """A value in a table."""
    match value:
        case None | []:
            return "–"
        case list():
            return ", ".join(value)
        case Mapping():
            return ", ".join(f"{name} {each}" for name, each in value.items())
        case str() | int():
            return str(value)
        case _:
            return f"{value:%Y-%m-%d %H:%M}"
