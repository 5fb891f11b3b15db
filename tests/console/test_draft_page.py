"""The draft page of a kind that Abacus does not have: notes declare their form in a few lines, and the page does the
rest.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import asyncpg
import pytest

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.documents.desk import DocumentDesk
from abacus.platform.postgres import Pool
from tests.console.desk import Desk, desk
from tests.documents.notes import NOTES, TABLES, Note, note_desk

DRAFT: Final = "/notes-draft"
NOTE_DRAFTS: Final[DraftKind[Note, None]] = DraftKind(
    kind=NOTES,
    desk=lambda rooms: rooms[DocumentDesk],
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


async def test_a_note_is_written_in_fields_shown_once_more_and_published(pool: Pool, database_url: str) -> None:
    async with notebook(pool, database_url) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        shown = (await ann.twin(DRAFT)).json()
        (panel,) = shown["panels"]
        assert [each["value"] for each in panel["parts"]] == ["todo", "count"]
        typed = {"text": shown["draft"]["text"], "doc.text": "count all"}
        review = (await ann.send_for_twin(DRAFT, DRAFT, act="submit", **typed)).json()
        assert review["review"]
        assert [f"{each['begins']} {each['says']}" for each in review["sentences"]] == [
            "The note todo",
            "says count all",
        ]
        # Nothing was published, and what is sent without having been shown is shown first.
        assert (await ann.see(f"{DRAFT}?of=todo")).status_code == 404
        text = review["draft"]["text"]
        carried = {"text": text, "shown": text, "digest": review["digest"], "act": "submit"}
        assert (await ann.send_for_twin(DRAFT, DRAFT, **carried, **{"doc.text": "count none"})).json()["review"]
        sent = await ann.send(DRAFT, DRAFT, **carried)
        assert (sent.status_code, sent.headers["location"]) == (303, f"{DRAFT}?of=todo%401")
        drafted = (await ann.twin(f"{DRAFT}?of=todo")).json()
        assert drafted["draft"]["text"] == 'name = "todo"\ntext = "count all"\n'
        assert (drafted["changes"]["nothing"], drafted["changes"]["against"]) == (True, "todo@1")
        text = drafted["draft"]["text"]
        typed = {"doc.text": "count more"}
        changed = await ann.send_for_twin(DRAFT, DRAFT, text=text, shown=text, act="check", **typed)
        assert changed.json()["changes"]["changes"] == [{"where": "Text", "was": "count all", "now": "count more"}]


async def test_what_was_typed_is_undone(pool: Pool, database_url: str) -> None:
    async with notebook(pool, database_url) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        begun = (await ann.twin(DRAFT)).json()["draft"]
        once = (await ann.send_for_twin(DRAFT, DRAFT, text=begun["text"], act="check", **{"doc.name": "shop"})).json()
        carried = {"text": once["draft"]["text"], "shown": once["draft"]["shown"]}
        undo = json.dumps(once["draft"]["before"])
        back = (await ann.send_for_twin(DRAFT, DRAFT, act="undo", undo=undo, **carried)).json()
        assert (back["draft"]["text"], back["draft"]["before"]) == (begun["text"], [])


@pytest.mark.parametrize(
    ("text", "at", "elsewhere"),
    [
        ('name = "To Do"\ntext = "x"\n', ["name"], 0),
        ('name = "todo"\n', ["text"], 0),
        ('name = "todo"\ntext = "x"\ncolor = "red"\n', [], 1),
    ],
)
async def test_a_fault_stands_beside_its_field(
    pool: Pool, database_url: str, text: str, at: list[str], elsewhere: int
) -> None:
    async with notebook(pool, database_url) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        refused = await ann.send_for_twin(DRAFT, DRAFT, text=text, act="submit", shown=text)
        assert refused.status_code == 422
        faults = refused.json()["faults"]
        assert (list(faults["at"]), len(faults["elsewhere"])) == (at, elsewhere)


async def test_a_fault_of_syntax_names_its_line_and_loses_nothing(pool: Pool, database_url: str) -> None:
    async with notebook(pool, database_url) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        good, broken = 'name = "todo"\ntext = "count"\n', 'name = "todo"\ntext = = "count"\n'
        typed = {"doc.text": "count all"}
        refused = (await ann.send_for_twin(DRAFT, DRAFT, text=broken, shown=good, act="submit", **typed)).json()
        (fault,) = refused["faults"]["elsewhere"]
        assert fault["path"].startswith("line 2")
        assert (refused["draft"]["text"], refused["draft"]["shown"]) == (broken, good)
        assert [each["value"] for each in refused["panels"][0]["parts"]] == ["todo", "count all"]
        mended = (
            await ann.send_for_twin(DRAFT, DRAFT, text=good + "# mine\n", shown=good, act="check", **typed)
        ).json()
        assert mended["draft"]["text"] == 'name = "todo"\ntext = "count all"\n# mine\n'


async def test_a_field_that_was_changed_in_the_text_too_is_not_chosen_silently(pool: Pool, database_url: str) -> None:
    async with notebook(pool, database_url) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        shown, text = 'name = "todo"\ntext = "a"\n', 'name = "todo"\ntext = "b"\n'
        typed = {"doc.text": "c"}
        both = (await ann.send_for_twin(DRAFT, DRAFT, text=text, shown=shown, act="check", **typed)).json()
        assert both["faults"]["at"] == {"text": ["the field and the text were both changed; mend one of them"]}
        assert (both["draft"]["text"], both["panels"][0]["parts"][1]["value"]) == (text, "c")


@pytest.mark.parametrize(("label", "role", "status"), [("nothing", "operator", 404), (None, "viewer", 403)])
async def test_who_may_draft_what(pool: Pool, database_url: str, label: str | None, role: str, status: int) -> None:
    async with notebook(pool, database_url) as open_desk:
        kim = await open_desk.inside("kim", role)
        assert (await kim.see(f"{DRAFT}?of={label}" if label else DRAFT)).status_code == status
