"""What a kind of documents says of itself on the command line."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Generic

from abacus.cli.terminal.acting import Acting
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.types import Document, Outcome, Record


def _nothing(_: object) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Family(Generic[Document, Around]):
    """The doors and the words of a kind. `offline` gives what drafts are judged by where that needs no database."""

    kind: DocumentKind[Document, Around]
    desk: Callable[[Acting], AbstractAsyncContextManager[DocumentDesk[Document, Around]]]
    files: str  # "Sources, in TOML or JSON."
    drafts: str  # "sources"; what the command's help calls them
    one: str  # "a source"
    nothing_new: str  # "the sources are in the store already"
    sentence: Callable[[Document], str]  # of a file without faults
    offline: Callable[[], Around] | None = None
    metavar: str = "NAME"
    afterwards: Callable[[Outcome[Document]], None] = _nothing  # says more of what was published


@dataclass(frozen=True, kw_only=True)
class Rows(Generic[Document]):
    """The list of a kind's documents: every row in JSON, and the columns of the table."""

    title: str
    columns: Sequence[str]
    row: Callable[[Record[Document]], Mapping[str, Any]]
