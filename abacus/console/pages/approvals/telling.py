"""What a kind declares of its approvals: how one is called, and how it is told."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from abacus.console.decide.told import Told
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.trials import Trying
from abacus.console.web.calls import Call
from abacus.people.types.approval import Approval


@dataclass(frozen=True, kw_only=True)
class Telling:
    """The functions are given the approval and its document, and may raise what `UNREADABLE` names for a document that
    is none of theirs. `told` raises `Unavailable`. `within`: the title within a sentence, where that is not the title
    with a small letter. `drafts`: the kind whose trials say what it costs; `trying`: how it is tried otherwise.
    """

    kind: str
    noun: str
    title: Callable[[Approval, Any], str]
    told: Callable[[Call, Approval, Any], Awaitable[Told]]
    within: Callable[[Approval, Any], str] | None = None
    drafts: DraftKind[Any, Any] | None = None
    trying: Callable[[Approval, Any], Trying] | None = None
