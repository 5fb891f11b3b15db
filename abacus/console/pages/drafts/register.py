"""The register of a kind: a page of all its documents, and a page of each with its versions."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic
from urllib.parse import quote

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.drafts.versions import VersionTold, versions_told
from abacus.console.pages.operations.errands import Done, newest
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.console.web.routes import Handler, Served, page
from abacus.core.errors import Refused
from abacus.core.fields import EARLIEST
from abacus.documents.kind import Around
from abacus.documents.types import Document, Record
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class DocumentRow:
    """The latest version of a document; the cells stand in the register's columns."""

    name: str
    address: str
    version: int
    cells: Sequence[str]
    published_at: datetime | None
    published_by: str
    is_over: bool


@dataclass(frozen=True, kw_only=True)
class RegisterPage(Page):
    """All documents of a kind that are open to the person."""

    template: ClassVar[str] = "register.html"
    about: str
    noun: str
    columns: Sequence[str]
    rows: Sequence[DocumentRow]
    draft: str
    may_draft: bool


@dataclass(frozen=True)
class PageDeed:
    """What may be done to a document, by a page of its own or, `at_once`, by the button."""

    label: str
    path: str
    at_once: bool = False


@dataclass(frozen=True, kw_only=True)
class DocumentPage(Page):
    """Every version of a document, the latest first. A `secret` is shown by the page that follows its making, once.
    `trial` is the last one, of a kind that can be tried.
    """

    template: ClassVar[str] = "document.html"
    noun: str
    register: str
    name: str
    path: str
    versions: Sequence[VersionTold]
    draft: str
    may_draft: bool
    deeds: Sequence[PageDeed] = ()
    trial: Part[Done | None] | None = None
    secret: str | None = None


@dataclass(frozen=True, kw_only=True)
class Register(Generic[Document, Around]):
    """A kind with few documents. Pages of a kind without countries are for people with a role in all of them. `columns`
    have a word for each document; `deeds` are for people who may publish it; `trial` is the kind of the tasks that try
    one.
    """

    drafts: DraftKind[Document, Around]
    title: str
    about: str
    columns: Mapping[str, Callable[[Document], str]]
    deeds: Callable[[Document], Sequence[PageDeed]] = lambda _: ()
    trial: str | None = None

    @property
    def path(self) -> str:
        return f"/{self.drafts.kind.command}"

    def address(self, name: str) -> str:
        return f"{self.path}/{quote(name, safe='')}"

    async def all(self, call: Call) -> RegisterPage:
        kind = self.drafts.kind
        records = await self.drafts.desk(call.rooms).records()
        return RegisterPage(
            title=self.title,
            command=f"abacus {kind.command} list",
            about=self.about,
            noun=kind.noun,
            columns=list(self.columns),
            rows=[self._row(each, call.now) for each in records if call.may(Deed.SEE, kind.country(each.document))],
            draft=self.drafts.path,
            may_draft=call.is_open(kind.deed, everywhere=self.drafts.everywhere),
        )

    async def one(self, call: Call) -> DocumentPage:
        return await self.document(call, str(call.request.path_params["document"]))

    async def document(self, call: Call, name: str, *, secret: str | None = None) -> DocumentPage:
        """Raises `PageFault` for a name that no document has."""
        kind = self.drafts.kind
        try:
            history = await self.drafts.desk(call.rooms).versions(name)
        except Refused:
            history = []
        if not history or not call.may(Deed.SEE, kind.country(history[-1].document)):
            raise PageFault("not-found", f"No {kind.noun} has such a name.")
        may_draft = call.may(kind.deed, kind.country(history[-1].document))
        return DocumentPage(
            title=name,
            command=f"abacus {kind.command} show {shlex.quote(name)}",
            noun=kind.noun,
            register=self.title,
            name=name,
            path=self.path,
            versions=versions_told(kind, history, call.now),
            draft=self.drafts.path,
            may_draft=may_draft,
            deeds=self.deeds(history[-1].document) if may_draft else (),
            trial=await call.part(newest(call, self.trial, name)) if self.trial is not None else None,
            secret=secret,
        )

    def _row(self, record: Record[Any], now: datetime) -> DocumentRow:
        kind, document, at = self.drafts.kind, record.document, record.published_at
        return DocumentRow(
            name=kind.name(document),
            address=self.address(kind.name(document)),
            version=record.version.number,
            cells=[told(document) for told in self.columns.values()],
            published_at=None if at == EARLIEST else at,
            published_by=record.published_by,
            is_over=not kind.standing([record], now),
        )


def register_pages(register: Register[Document, Around], one: Handler | None = None) -> tuple[Served, ...]:
    """The pages of a register and of its drafts. `one` shows more of a document than its versions."""
    return (
        page(register.path, register.all, everywhere=register.drafts.everywhere),
        page(f"{register.path}/{{document}}", one or register.one, everywhere=register.drafts.everywhere),
        *draft_pages(register.drafts),
    )
