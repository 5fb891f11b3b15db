"""Saved drafts: the person's own, and others' that the person may see; one of them as it was saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from abacus.console.drafts.store import Draft, DraftStore, Saved
from abacus.console.pages.drafts.draft_kind import path_of
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, See
from abacus.documents.kind import DocumentKind
from abacus.oversight.kinds import KINDS
from abacus.people.types.deed import Deed

_MOST: Final = 50
_KINDS: Final[Mapping[str, DocumentKind[Any, Any]]] = {each.command: each for each in KINDS}


@dataclass(frozen=True)
class DraftRow:
    """A draft. `path` is where it is written on, for people who may write its kind."""

    draft_id: UUID
    title: str
    noun: str
    country: str | None
    owner: str
    saved_at: datetime
    path: str | None


@dataclass(frozen=True, kw_only=True)
class DraftsPage(Page):
    """The newest first."""

    template: ClassVar[str] = "drafts.html"
    mine: Sequence[DraftRow]
    others: Rows[DraftRow]


@dataclass(frozen=True, kw_only=True)
class SavedDraftPage(Page):
    """One draft, to be read."""

    template: ClassVar[str] = "saved_draft.html"
    draft: DraftRow
    is_mine: bool
    text: str


async def drafts(call: Call) -> DraftsPage:
    store, me = call.rooms[DraftStore], call.actor.name
    after = place_of(call, UUID)
    others = await store.of_others(me, call.countries(Deed.SEE), after=after, limit=_MOST + 1)
    return DraftsPage(
        title="Drafts",
        mine=[row_of(call, each) for each in await store.of(me)],
        others=rows_of(call, [row_of(call, each) for each in others], _MOST, lambda row: (row.saved_at, row.draft_id)),
    )


async def saved_draft(call: Call) -> SavedDraftPage:
    saved = await open_to(call, call.request.path_params["draft"])
    row = row_of(call, saved.draft)
    return SavedDraftPage(
        title=f"Draft of {row.title}", draft=row, is_mine=row.owner == call.actor.name, text=saved.text
    )


async def delete(call: Call) -> See:
    """Its owner deletes a draft."""
    draft = (await open_to(call, call.request.path_params["draft"])).draft
    if draft.owner != call.actor.name:
        raise PageFault("role-needed", f"It is the draft of {draft.owner}.")
    also = call.told(
        _deed(draft.kind), f"draft:{draft.draft_id}", country=draft.country, did="delete-draft", title=draft.title
    )
    await call.rooms[DraftStore].delete(draft.draft_id, draft.owner, also)
    return See("/drafts", f"The draft of {draft.title} is deleted.")


async def open_to(call: Call, draft_id: UUID) -> Saved:
    """Raises `PageFault` for a draft that the person may not see."""
    saved = await call.rooms[DraftStore].find(draft_id)
    if saved is None or not (saved.draft.owner == call.actor.name or call.may(Deed.SEE, saved.draft.country)):
        raise PageFault("not-found", "No such draft is open to you.")
    return saved


def row_of(call: Call, draft: Draft) -> DraftRow:
    kind = _KINDS.get(draft.kind)
    path = f"{path_of(draft.kind)}?draft={draft.draft_id}" if call.may_somewhere(_deed(draft.kind)) else None
    noun = draft.kind if kind is None else kind.noun
    return DraftRow(draft.draft_id, draft.title, noun, draft.country, draft.owner, draft.saved_at, path)


def _deed(command: str) -> Deed:
    """What it takes to write the kind of this command."""
    kind = _KINDS.get(command)
    return Deed.SEE if kind is None else kind.deed
