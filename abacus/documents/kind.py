"""What a kind of documents says of itself. The store, the desk and the doors do the rest."""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from abacus.core.document_text import write_toml
from abacus.core.errors import Absent, absent
from abacus.core.fields import Fault
from abacus.documents.decide.version_words import Parts, changed_parts
from abacus.documents.form.types import NO_CHOICES, Choices, Form
from abacus.documents.types import Difference, Document, Key, Record, Version
from abacus.people.types.deed import Deed

Around = TypeVar("Around")
Between: TypeAlias = tuple[Record[Document] | None, Record[Document] | None]


class Withdrawals(NamedTuple):
    """The table of the versions that were withdrawn, the act as the log calls it, and the word that its columns begin
    with.
    """

    table: str
    act: str = "withdraw"
    done: str = "withdrawn"


class Table(NamedTuple):
    """Where versions are kept. `key` names the column of a document's key, `own` the columns of this kind alone, and
    `told` what is read besides, as SQL.
    """

    name: str
    key: str
    own: Sequence[str] = ()
    told: Mapping[str, str] = MappingProxyType({})
    withdrawals: Withdrawals | None = None
    key_type: str = "text"
    at: str = "published_at"
    by: str = "published_by"

    @property
    def names(self) -> Sequence[str]:
        """Of this table, and of the table of withdrawals where there is one."""
        return (self.name,) if self.withdrawals is None else (self.name, self.withdrawals.table)


def _nowhere(_: object) -> None:
    return None


def _nothing_own(_: object) -> Mapping[str, Any]:
    return {}


def _nothing_anew(_: object) -> list[str]:
    return []


def _no_choices(*_: object) -> Choices:
    return NO_CHOICES


def _behind_the_latest(_: object, history: Sequence[Record[Document]]) -> Between[Document]:
    return (history[-1] if history else None), None


def _latest_in_force(history: Sequence[Record[Document]], _: datetime) -> Sequence[Record[Document]]:
    return [each for each in history[-1:] if each.version.withdrawal is None]


@dataclass(frozen=True, kw_only=True)
class DocumentKind(Generic[Document, Around]):
    """`around` is what a document is judged by, and does not stand in its own table: the sources of a counter's events,
    or the addresses that a webhook may have.
    """

    word: str  # "source"; what refusals and JSON call it
    plural: str  # "event sources"; what health and the log call all of them
    noun: str  # "source of events"
    command: str  # "events"; the commands of the kind
    subject: str  # "source"; in the log, before the name
    deed: Deed
    table: Table
    name_field: str | None  # the field of a document that has its name; None where several may be published at once

    read: Callable[[Mapping[str, object], Around], Awaitable[Document]]  # raises `DocumentFaults`
    restore: Callable[[Mapping[str, Any], Version], Document]  # of a published one; raises `DocumentFaults`
    to_document: Callable[[Document], dict[str, Any]]
    described: Callable[[Document], Parts]
    check: Callable[[Document, Iterable[Document], Around], list[Fault]]  # beside the latest versions of all

    key: Callable[[Document], Key]
    name: Callable[[Document], str]
    split_label: Callable[[str], tuple[str, int | None]]  # "weather@3" in its parts; raises `Refused`
    country: Callable[[Document], str | None] = _nowhere
    own: Callable[[Document], Mapping[str, Any]] = _nothing_own  # the values of the table's own columns
    file: Callable[[Document], str] | None = None  # where several versions of one document are in force
    toml: Callable[[Document], str] | None = None
    write: Callable[[Mapping[str, Any]], str] = write_toml  # of a document that may have faults
    # One line a change, of a kind that says more than which parts of the description differ.
    compare: Callable[[Document | None, Document], list[str]] | None = None
    anew: Callable[[Record[Document]], list[str]] = _nothing_anew  # what a draft changes that says the same
    # The version that a draft displaces, and the version that takes over from it, where there are any.
    between: Callable[[Document, Sequence[Record[Document]]], Between[Document]] = _behind_the_latest
    standing: Callable[[Sequence[Record[Document]], datetime], Sequence[Record[Document]]] = _latest_in_force
    form: Form | None = None
    choices: Callable[[Mapping[str, Any], Around], Choices] = _no_choices  # what a draft can choose from
    versions: str = "list"  # the command that prints the versions of a document

    def difference(self, draft: Document, history: Sequence[Record[Document]]) -> Difference[Document]:
        """What a draft changes beside the versions that there are."""
        displaced, successor = self.between(draft, history)
        until = None if successor is None else self.label(successor)
        if displaced is None:
            return Difference(draft, None, self.changes(None, draft), until)
        changes = self.changes(displaced.document, draft) or self.anew(displaced)
        return Difference(draft, self.label(displaced), changes, until)

    def changes(self, old: Document | None, new: Document) -> list[str]:
        """One line a change; none where both say the same. Without an old version everything is new."""
        if self.compare is not None:
            return self.compare(old, new)
        return changed_parts(self.name(new), None if old is None else self.described(old), self.described(new))

    @property
    def withdrawals(self) -> Withdrawals:
        """Of a kind whose versions can be withdrawn."""
        if self.table.withdrawals is None:
            raise TypeError(f"{self.plural} are never withdrawn")
        return self.table.withdrawals

    def to_toml(self, document: Document) -> str:
        """A file to edit."""
        return self.toml(document) if self.toml is not None else write_toml(self.to_document(document))

    def identity(self, document: Document) -> Hashable:
        """What makes two drafts drafts of one document."""
        return self.key(document) if self.name_field is not None else self.file_name(document)

    def file_name(self, document: Document) -> str:
        """Of its file among all that are in force."""
        return self.file(document) if self.file is not None else self.name(document)

    def label(self, record: Record[Document]) -> str:
        """The name and the version, as people write them."""
        return f"{self.name(record.document)}@{record.version.number}"

    def unknown(self, name: str) -> Absent:
        return absent(self.noun, name, f"`abacus {self.command} list` prints all")

    def unknown_version(self, label: str) -> Absent:
        name, _ = self.split_label(label)
        return absent(self.noun, label, f"`abacus {self.command} {self.versions} {name}` prints its versions")
