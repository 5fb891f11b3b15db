"""The draft page of a kind that Abacus does not have: notes declare their form in a few lines, and the page does the
rest.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import asyncpg
import pytest

from abacus.console.decide.document_fields import DocumentFields, FieldSort
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.drafts.editor import FieldEditor
from abacus.documents.desk import DocumentDesk
from abacus.platform.postgres import Pool
from tests.console.desk import Desk, desk
from tests.documents.notes import NOTES, TABLES, Note, note_desk

DRAFT: Final = "/notes-draft"
NOTE_DRAFTS: Final[DraftKind[Note, None]] = DraftKind(
    kind=NOTES,
    desk=lambda rooms: rooms[DocumentDesk],
    editor=FieldEditor(DocumentFields({"name": FieldSort("Name"), "text": FieldSort("Text")})),
    about="A text under a name.",
    begin=lambda _: 'name = "todo"\ntext = "count"\n',
)


@asynccontextmanager
async def notebook(pool: Pool, database_url: str) -> AsyncIterator[Desk]:
    owner = await asyncpg.connect(database_url)
    await owner.execute(TABLES)
    await owner.close()
    async with desk(pool, more=draft_pages(NOTE_DRAFTS), beside=lambda clock: [note_desk(pool, clock)]) as open_desk:
        yield open_desk


async def test_a_note_is_written_in_fields_and_published(pool: Pool, database_url: str) -> None:
    async with notebook(pool, database_url) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        shown = (await ann.twin(DRAFT)).json()
        assert [(each["label"], each["value"]) for each in shown["fields"]["fields"]] == [
            ("Name", "todo"),
            ("Text", "count"),
        ]
        assert shown["changes"] == {"against": None, "changes": ["first version of todo", "text: count"], "until": None}
        sent = await ann.send(DRAFT, DRAFT, text=shown["text"], act="submit", **{"f.text": "count all"})
        assert (sent.status_code, sent.headers["location"]) == (303, f"{DRAFT}?of=todo%401")
        drafted = (await ann.twin(f"{DRAFT}?of=todo")).json()
        assert drafted["text"] == 'name = "todo"\ntext = "count all"\n'
        again = await ann.send(DRAFT, DRAFT, text=drafted["text"], act="submit")
        assert (again.status_code, "todo@1 is this note already" in again.text) == (422, True)
        changed = await ann.send(DRAFT, DRAFT, text=drafted["text"], act="apply", **{"f.text": "count more"})
        assert "text: count all → count more" in changed.text


@pytest.mark.parametrize(
    ("text", "wrong"),
    [('name = "To Do"\ntext = "x"\n', {"text", "f.name"}), ('name = "todo"\n', {"text", "f.text"}), ("= 1", {"text"})],
)
async def test_a_fault_stands_beside_its_field(pool: Pool, database_url: str, text: str, wrong: set[str]) -> None:
    async with notebook(pool, database_url) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        refused = await ann.send_for_twin(DRAFT, DRAFT, text=text, act="submit")
        assert refused.status_code == 422
        assert set(refused.json()["form"]["wrong"]) >= wrong


@pytest.mark.parametrize(("label", "role", "status"), [("nothing", "operator", 404), (None, "viewer", 403)])
async def test_who_may_draft_what(pool: Pool, database_url: str, label: str | None, role: str, status: int) -> None:
    async with notebook(pool, database_url) as open_desk:
        kim = await open_desk.inside("kim", role)
        assert (await kim.see(f"{DRAFT}?of={label}" if label else DRAFT)).status_code == status
