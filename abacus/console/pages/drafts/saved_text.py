"""The saved draft that a page writes on: found by its id, saved under the person's name, gone once published."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from abacus.console.drafts.store import Draft, DraftStore
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.draft_list import open_to
from abacus.console.pages.drafts.draft_text import DraftText, Taken, begun
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.core.errors import Unavailable
from abacus.core.fields import DocumentFaults
from abacus.documents.kind import Around
from abacus.documents.types import Document

CARRIED: Final = "draft"  # the hidden field with the id of the person's own draft
_LONGEST: Final = 100  # characters of a title


@dataclass(frozen=True)
class SavedAs:
    """The draft that is shown, as it was saved last. Another person's is saved as a copy."""

    draft_id: UUID
    owner: str
    saved_at: datetime
    is_mine: bool


async def begun_from(call: Call, drafts: DraftKind[Document, Around], draft_id: str) -> tuple[DraftText, SavedAs]:
    """The draft that an address names, with what can be undone. Raises `PageFault`."""
    saved = await open_to(call, _id(draft_id))
    if saved.draft.kind != drafts.kind.command:
        raise PageFault("not-found", f"It is no draft of a {drafts.kind.word}.")
    return begun(saved.text, saved.before), _as(call, saved.draft)


async def carried(call: Call) -> SavedAs | None:
    """The person's own draft that a form is about; None where it was not saved, or was deleted meanwhile."""
    typed = call.form.get(CARRIED)
    saved = await call.rooms[DraftStore].find(_id(typed)) if typed else None
    return _as(call, saved.draft) if saved is not None and saved.draft.owner == call.actor.name else None


async def save(
    call: Call, drafts: DraftKind[Document, Around], found: Taken, around: Around, before: SavedAs | None
) -> SavedAs:
    """Whatever faults it has. The form's key is the id of a new one, so that a form that is sent twice makes one draft.
    Raises `PageFault` and `Refused`.
    """
    kind = drafts.kind
    country, title = await _place(call, drafts, found, around)
    if country is not None:
        call.check(kind.deed, country)
    draft = Draft(
        call.form.key if before is None else before.draft_id,
        kind.command,
        title,
        country,
        call.actor.name,
        call.now,
    )
    also = call.told(kind.deed, f"draft:{draft.draft_id}", country=country, did="save-draft", title=title)
    await call.rooms[DraftStore].save(draft, found.draft.text, also, before=found.draft.before)
    return _as(call, draft)


async def forget(call: Call, saved: SavedAs | None) -> None:
    """Once it is published; a draft that stays behind is deleted by its owner."""
    if saved is not None:
        with suppress(Unavailable):
            await call.rooms[DraftStore].delete(saved.draft_id, call.actor.name)


async def _place(
    call: Call, drafts: DraftKind[Document, Around], found: Taken, around: Around
) -> tuple[str | None, str]:
    """The country and the title; of a draft with faults, as it has them."""
    kind, document = drafts.kind, found.document
    try:
        draft = await drafts.desk(call.rooms).read(document, around)
    except DocumentFaults:
        country, name = document.get("country"), document.get(kind.name_field or "")
        return _text(country) or None, _text(name) or f"a {kind.noun}"
    return kind.country(draft), kind.name(draft)


def _text(value: Any) -> str:
    return value.strip()[:_LONGEST] if isinstance(value, str) else ""


def _as(call: Call, draft: Draft) -> SavedAs:
    return SavedAs(draft.draft_id, draft.owner, draft.saved_at, draft.owner == call.actor.name)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise PageFault("not-found", "No such draft is open to you.") from None
