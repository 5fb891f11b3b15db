"""What a kind of documents says of itself on the command line."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Generic

from abacus.cli.terminal.acting import Acting
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.types import Document, Record


@dataclass(frozen=True, kw_only=True)
class Family(Generic[Document, Around]):
    """The doors and the words of a kind. `offline` gives what drafts are judged by where that needs no database."""

    kind: DocumentKind[Document, Around]
    desk: Callable[[Acting], AbstractAsyncContextManager[DocumentDesk[Document, Around]]]
    offline: Callable[[], Around] | None
    files: str  # "Sources, in TOML or JSON."
    drafts: str  # "sources"; what the command's help calls them
    one: str  # "a source"
    nothing_new: str  # "the sources are in the store already"
    sentence: Callable[[Document], str]  # of a file without faults
    title: str  # of the list
    columns: tuple[str, ...]
    row: Callable[[Record[Document]], Mapping[str, Any]]  # of the list
    metavar: str = "NAME"
