"""Versions of documents, and what publishing a draft changes. Pure values."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from abacus.people.types.approval import Approval

Document = TypeVar("Document")

Key: TypeAlias = str | int  # of all versions of one document


class Withdrawal(NamedTuple):
    """Who took a version back, or out of force, and why."""

    at: datetime
    by: str
    reason: str


class Version(NamedTuple):
    """Everything that is kept of a version but its document. `own` has the columns that a kind adds."""

    key: Key
    number: int
    published_at: datetime
    published_by: str
    withdrawal: Withdrawal | None
    own: Mapping[str, Any]

    @property
    def mark(self) -> str:
        """The version and its state: a document that is known by its mark is not read again."""
        return f"{self.key}@{self.number}{'' if self.withdrawal is None else '-'}"


class Record(NamedTuple, Generic[Document]):
    """A published document, under its number."""

    document: Document
    version: Version

    @property
    def published_at(self) -> datetime:
        return self.version.published_at

    @property
    def published_by(self) -> str:
        return self.version.published_by


class DraftOutcome(NamedTuple, Generic[Document]):
    """What came of a draft. It has no `label` until a second person has approved it, where the kind asks for one.
    `told` is for its publisher.
    """

    document: Document
    label: str | None
    approval: Approval | None = None
    told: Mapping[str, Any] = MappingProxyType({})


class Difference(NamedTuple, Generic[Document]):
    """What publishing a draft changes: against the version that it displaces, until another version takes over. A draft
    that is published already changes nothing.
    """

    draft: Document
    against: str | None
    changes: Sequence[str]
    until: str | None = None
    label: str | None = None  # of the version that the draft becomes


def documents(records: Iterable[Record[Document]]) -> list[Document]:
    return [record.document for record in records]


def marked(records: Iterable[Record[Document]]) -> dict[str, Document]:
    """By the marks of their versions."""
    return {record.version.mark: record.document for record in records}
