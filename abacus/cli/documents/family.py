"""What a kind of documents says of itself on the command line."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Generic

from abacus.cli.documents.drafts import FilePlan
from abacus.cli.terminal.command_actor import CommandActor
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.types import Document, DraftOutcome, Record
from abacus.engage.campaigns.grantors import Grantors
from abacus.platform.postgres import Pool


def _nothing(_: object) -> None:
    pass


def _as_it_is(around: Around, _: Mapping[str, Sequence[Any]]) -> Around:
    return around


def _published(outcome: DraftOutcome[Any]) -> str:
    return f"{outcome.label} published"


def _row(plan: FilePlan[Any], outcome: DraftOutcome[Any]) -> dict[str, Any]:
    """Of a published draft, in JSON."""
    changed = {"file": plan.file, "name": outcome.label, "against": plan.against, "changes": plan.changes}
    return changed | dict(outcome.told)


def _done(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"published": rows}


@dataclass(frozen=True, kw_only=True)
class Family(Generic[Document, Around]):
    """The doors and the words of a kind. `offline` gives what drafts are judged by where that needs no database."""

    kind: DocumentKind[Document, Around]
    desk: Callable[[CommandActor], AbstractAsyncContextManager[DocumentDesk[Document, Around]]]
    files: str  # "Sources, in TOML or JSON."
    drafts: str  # "sources"; what the command's help calls them
    one: str  # "a source"
    nothing_new: str  # "the sources are in the store already"
    sentence: Callable[[Document], str]  # of a file without faults
    offline: Callable[[], Around] | None = None
    # What drafts of the kind are judged by together with drafts of other kinds, by the command of each kind.
    with_drafts: Callable[[Around, Mapping[str, Sequence[Any]]], Around] = _as_it_is
    metavar: str = "NAME"
    against: str = "the latest version"  # what a draft is compared with
    told: Callable[[DraftOutcome[Document]], str] = _published
    row: Callable[[FilePlan[Document], DraftOutcome[Document]], dict[str, Any]] = _row
    done: Callable[[list[dict[str, Any]]], dict[str, Any]] = _done
    afterwards: Callable[[DraftOutcome[Document]], None] = _nothing  # says more of what was published
    grantors: Callable[[Pool], Grantors] | None = None  # of a kind that campaigns grant


@dataclass(frozen=True, kw_only=True)
class Rows(Generic[Document]):
    """The list of a kind's documents: every row in JSON, and the columns of the table."""

    title: str
    columns: Sequence[str]
    row: Callable[[Record[Document]], Mapping[str, Any]]
