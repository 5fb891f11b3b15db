"""What a kind of documents declares of its draft page."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from abacus.console.decide.form_field import FormField
from abacus.console.decide.journey_picture import Picture
from abacus.console.decide.trials import TrialWords
from abacus.console.errands.types import NO_PAPERS
from abacus.console.pages.drafts.preview import PreviewKind
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.console.web.page import Page, See
from abacus.documents.desk import DocumentDesk
from abacus.documents.form.faults import Placed
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.types import Document, DraftOutcome
from abacus.people.types.approval import ApprovalKind
from abacus.platform.rooms import Rooms


class TrialOrder(NamedTuple):
    """The options of the command that tries a draft, and the files that they name."""

    options: Sequence[str]
    papers: Mapping[str, str] = NO_PAPERS


@dataclass(frozen=True)
class Template(Generic[Around]):
    """A document to begin with, where it fits what is published."""

    name: str
    about: str
    document: Callable[[Call], Mapping[str, Any]]
    fits: Callable[[Around], bool]


@dataclass(frozen=True, kw_only=True)
class TrialKind(Generic[Document]):
    """A command that tries a draft: `act` names it, as in `abacus rates backtest FILE`, and `errand` its errands."""

    act: str
    errand: str
    title: str
    button: str
    fields: Callable[[Call, Document], Sequence[FormField]]
    order: Callable[[Form, Document], TrialOrder]  # raises `WrongForm`
    words: Callable[[Mapping[str, Any]], TrialWords]  # of what the command printed
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class DraftKind(Generic[Document, Around]):
    """A kind that declares a form, and its trials. Its desk checks a draft, compares it and publishes it."""

    kind: DocumentKind[Document, Around]
    desk: Callable[[Rooms], DocumentDesk[Document, Around]]
    about: str
    begin: Callable[[Call], str]  # the text of a draft that is made of nothing
    submit: str = "Publish"  # what the last button says
    templates: Sequence[Template[Around]] = ()
    everywhere: bool = False  # of a kind without countries: for people whose role holds in all
    page: Callable[[Document], str] | None = None  # where a document is shown once it is published
    published: Callable[[Call, DraftOutcome[Document]], Awaitable[Page | See]] | None = None  # or what shows more of it
    # A document that is begun, or copied, with values of its own where no two documents may have the same.
    beside: Callable[[Mapping[str, Any], Sequence[Document]], Mapping[str, Any]] | None = None

    # What drafts are judged by, and chosen from; as the desk has it, where a kind says nothing.
    around: Callable[[Call], Awaitable[Around]] | None = None
    picture: Callable[[Mapping[str, Any], Placed], Picture] | None = None  # of a document with its faults
    preview: PreviewKind[Document, Around] | None = None
    trials: Sequence[TrialKind[Document]] = ()
    trials_around: Callable[[Around], Sequence[TrialKind[Document]]] | None = None  # with fields of what is published
    trials_path: str = ""  # before the id of a trial
    tried_at: Callable[[Document], str | None] = lambda _: None  # the page that tries a version, if there is one

    is_granted: bool = False  # whether campaigns grant documents of the kind
    approval: ApprovalKind | None = None
    approved: Callable[[Mapping[str, Any]], Document] | None = (
        None  # what an approval is about; raises `DocumentFaults`
    )

    def trials_in(self, around: Around) -> Sequence[TrialKind[Document]]:
        return self.trials if self.trials_around is None else self.trials_around(around)

    async def surroundings(self, call: Call) -> Around:
        """Raises `Unavailable`."""
        return await (self.desk(call.rooms).around() if self.around is None else self.around(call))

    @property
    def path(self) -> str:
        return path_of(self.kind.command)


def path_of(command: str) -> str:
    """Where drafts of a kind are written, by its command."""
    return f"/{command}-draft"
