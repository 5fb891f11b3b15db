"""Who changed what: each version against the one whose place it took."""

from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.console.pages.drafts.versions import Then, versions_told
from abacus.documents.form.changes import Change
from abacus.documents.types import Record, Version
from tests.documents.notes import NOTES, Note

AT = datetime(2026, 3, 2, 4, tzinfo=UTC)


def note(number: int, text: str, **own: Any) -> Record[Note]:
    return Record(Note("todo", text, number), Version("todo", number, AT, f"person:p{number}", None, own))


def test_the_newest_stands_first_with_its_people_and_what_it_changed() -> None:
    second, first = versions_told(NOTES, [note(1, "a"), note(2, "b", approved_by="person:dora", approved_at=AT)], AT)
    assert (first.label, first.published_by, first.against, first.changes) == ("todo@1", "person:p1", None, [])
    assert (second.label, second.approved_by, second.approved_at) == ("todo@2", "person:dora", AT)
    assert (second.against, second.changes) == ("todo@1", [Change("Text", "a", "b")])


@pytest.mark.parametrize(
    ("own", "then"),
    [
        ({}, None),
        ({"status": "approved", "reason": None}, None),
        (
            {"status": "approved", "changed_by": "person:ann", "changed_at": AT, "reason": "stock is back"},
            Then("resumed", "person:ann", AT, "stock is back"),
        ),
        (
            {"status": "paused", "changed_by": "person:ann", "changed_at": AT, "reason": "stock"},
            Then("paused", "person:ann", AT, "stock"),
        ),
    ],
)
def test_what_became_of_a_version(own: dict[str, Any], then: Then | None) -> None:
    (line,) = versions_told(NOTES, [note(1, "a", **own)], AT)
    assert line.then == then
