"""The versions of a document as people read them: each in sentences, and from one value to the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from abacus.core.fields import EARLIEST
from abacus.documents.form.changes import Change, changes
from abacus.documents.form.sentences import Sentence, sentences
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.types import Document, Record, Withdrawal

# The states on the way into force, and what brought a version back to one of them for a reason.
_USUAL: Final = {"draft": "withdrawn", "submitted": "submitted", "approved": "resumed"}


@dataclass(frozen=True)
class Then:
    """What was done last to a version with states: paused, ended or withdrawn, by whom and why."""

    state: str
    by: str
    at: datetime
    reason: str | None


@dataclass(frozen=True)
class VersionTold:
    """`against` is the version before it; the first one changes nothing. A version that is there from the start was
    published by nobody, and a version that `ends` took its document out of force. Where a second person approves a
    kind, `approved_by` did.
    """

    label: str
    number: int
    published_at: datetime | None
    published_by: str
    withdrawal: Withdrawal | None
    ends: bool
    sentences: Sequence[Sentence]
    against: str | None
    changes: Sequence[Change]
    approved_by: str | None = None
    approved_at: datetime | None = None
    then: Then | None = None


def versions_told(
    kind: DocumentKind[Document, Around], history: Sequence[Record[Document]], now: datetime
) -> list[VersionTold]:
    """All versions of a document, the latest first. What they name is told as they name it: it may be gone by now."""
    told: list[VersionTold] = []
    before: Record[Document] | None = None
    for record in history:
        told.append(_told(kind, record, before, now))
        before = record
    return told[::-1]


def _told(
    kind: DocumentKind[Document, Around], record: Record[Document], before: Record[Document] | None, now: datetime
) -> VersionTold:
    if kind.form is None:
        raise TypeError(f"{kind.plural} declare no form")
    document, at = kind.to_document(record.document), record.published_at
    was: Mapping[str, Any] | None = None if before is None else kind.to_document(before.document)
    return VersionTold(
        label=kind.label(record) if record.version.number else kind.name(record.document),
        number=record.version.number,
        published_at=None if at == EARLIEST else at,
        published_by=record.published_by,
        withdrawal=record.version.withdrawal,
        ends=record.version.withdrawal is None and not kind.standing([record], now),
        sentences=sentences(kind.form, document),
        against=None if before is None else kind.label(before),
        changes=[] if was is None else changes(kind.form, was, document),
        approved_by=record.version.own.get("approved_by"),
        approved_at=record.version.own.get("approved_at"),
        then=_then(record.version.own),
    )


def _then(own: Mapping[str, Any]) -> Then | None:
    """That a version was submitted and approved is told beside it."""
    state, reason = own.get("status"), own.get("reason")
    if state is None or (state in _USUAL and reason is None):
        return None
    return Then(_USUAL.get(state, state), own["changed_by"], own["changed_at"], reason)
