"""A kind of documents that Abacus does not have: notes. All that a new kind takes is here, within 200 lines: its table,
its value, how it is read and checked, its kind, its desk and its commands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

import typer

from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Family, Rows
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.shell import CommandGroup
from abacus.core import fields
from abacus.core.clock import Clock
from abacus.core.fields import DocumentFaults, Fault, Fields
from abacus.documents.decide.version_words import Labels
from abacus.documents.desk import DocumentDesk
from abacus.documents.form.types import Field, Form, Text
from abacus.documents.kind import DocumentKind, Table, Withdrawals
from abacus.documents.types import Record, Version
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool

# What the migration of the kind does.
TABLES: Final = """
create table note (
    name text not null, version integer not null, document jsonb not null,
    published_at timestamptz not null, published_by text not null, primary key (name, version)
);
create table note_withdrawal (
    name text not null, version integer not null, withdrawn_at timestamptz not null,
    withdrawn_by text not null, reason text not null, primary key (name, version)
);
grant select, insert on note, note_withdrawal to abacus_app;
"""
MOST: Final = 3
_NAME: Final = "[a-z]{1,20}"


@dataclass(frozen=True, slots=True)
class Note:
    """A text under a name."""

    name: str
    text: str
    version: int = 0


def parse_note(document: Mapping[str, object]) -> Note:
    """Raises `DocumentFaults` with every fault."""
    faults: list[Fault] = []
    top = Fields(document, "", faults)
    name = top.read("name", fields.matching(re.compile(_NAME), "is not a name; write small letters"), "")
    text = top.read("text", fields.string, "")
    top.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return Note(name, text)


def to_document(note: Note) -> dict[str, Any]:
    return {"name": note.name, "text": note.text}


def described(note: Note) -> Iterator[tuple[str, str]]:
    yield "text", note.text


async def _read(document: Mapping[str, object], _: None) -> Note:
    return parse_note(document)


def _restore(document: Mapping[str, Any], version: Version) -> Note:
    return replace(parse_note(document), version=version.number)


def _check(draft: Note, latest: Iterable[Note], _: None) -> list[Fault]:
    others = {each.name for each in latest} - {draft.name}
    return [Fault("name", f"there are {len(others)} notes already")] if len(others) >= MOST else []


NOTES: Final[DocumentKind[Note, None]] = DocumentKind(
    word="note",
    plural="notes",
    noun="note",
    command="notes",
    subject="note",
    deed=Deed.PUBLISH_SOURCES,
    table=Table("note", "name", withdrawals=Withdrawals("note_withdrawal")),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    check=_check,
    key=lambda note: note.name,
    name=lambda note: note.name,
    split_label=Labels("note", _NAME, "todo").split,
    form=Form(
        [
            Field(
                name="name", sort=Text(pattern=_NAME), label="Name", required=True, example="todo", begins="The note"
            ),
            Field(name="text", sort=Text(lines=3), label="Text", required=True, example="count", begins="says"),
        ]
    ),
)


async def alone(_: Connection) -> None:
    """A note is judged by nothing else."""


def note_desk(pool: Pool, clock: Clock) -> DocumentDesk[Note, None]:
    return DocumentDesk(pool, clock, NOTES, alone)


FAMILY: Final = Family(
    kind=NOTES,
    desk=lambda at: nullcontext(note_desk(at.pool, at.clock)),
    offline=lambda: None,
    files="Notes, in TOML or JSON.",
    drafts="notes",
    one="a note",
    nothing_new="the notes are there already",
    sentence=lambda note: f"{note.name} of {len(note.text)} characters",
)


def _row(record: Record[Note]) -> dict[str, Any]:
    return {**to_document(record.document), "version": record.version.number, "by": record.published_by}


app = CommandGroup()
add_commands(app, FAMILY, Rows(title="Notes", columns=("name", "version", "text", "by"), row=_row))


@app.command()
async def withdraw(name: str, reason: str) -> None:
    """Take the latest version of a note back."""
    async with at_desk(FAMILY.desk) as (desk, at):
        at.check(NOTES.deed)
        record = await desk.withdraw(name, reason, at.actor)
    typer.echo(f"{NOTES.label(record)} is withdrawn")
