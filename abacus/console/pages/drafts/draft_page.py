"""A document that is being written: its form beside its text, checked by what is published, tried, and submitted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Generic
from urllib.parse import urlencode

from abacus.console.decide.draft_form import DraftForm
from abacus.console.decide.sentences import Sentence
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.trials import Trial, TrialForm, trial_forms, trial_page, trials_of, try_draft
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form, WrongForm
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.console.web.routes import Served, form, page
from abacus.core.document_text import read_toml
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults, Fault
from abacus.documents.kind import Around
from abacus.documents.types import Document
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed

_SUBMIT: Final = "submit"
_OF_THE_PAGE: Final = ("text", "act")


@dataclass(frozen=True)
class Changes:
    """What publishing the draft changes: against the version that it displaces, until another takes over."""

    against: str | None
    changes: Sequence[str]
    until: str | None


@dataclass(frozen=True, kw_only=True)
class DraftPage(Page):
    """The text with its form; every fault by its path, or what the draft says or changes where there is none."""

    template: ClassVar[str] = "draft.html"
    about: str
    word: str
    path: str
    submit: str
    text: str
    fields: DraftForm | None = None
    faults: Sequence[Fault] = ()
    sentences: Sequence[Sentence] = ()
    changes: Changes | None = None
    trial_forms: Sequence[TrialForm] = ()
    trials: Part[Sequence[Trial]] | None = None


class _DraftPages(Generic[Document, Around]):
    """The handlers of one kind."""

    def __init__(self, drafts: DraftKind[Document, Around]) -> None:
        self._drafts = drafts

    async def begin(self, call: Call) -> DraftPage:
        """With the version that the address names, to be changed, or with the text that the kind begins with."""
        kind, label = self._drafts.kind, call.asked("of")
        if label is None:
            return await self._page(call, self._drafts.begin(call))
        if (version := call.asked("version")) is not None:
            label = f"{label}@{version}"
        try:
            found = (await self._drafts.desk(call.rooms).version(label)).document
        except Refused:
            found = None
        if found is None or not call.may(Deed.SEE, kind.country(found)):
            raise PageFault("not-found", f"No such {kind.word} is open to you.")
        return await self._page(call, kind.to_toml(found))

    async def change_or_submit(self, call: Call) -> Page | See:
        """Does what the form asks of the text, and then shows, tries or submits it."""
        drafts, kind, desk = self._drafts, self._drafts.kind, self._drafts.desk(call.rooms)
        text, act, typed = call.form.exactly("text"), call.form.get("act"), EMPTY
        try:
            around = await desk.around()
            edit = drafts.editor.edit(act, read_toml(text), call.form.shown(*_OF_THE_PAGE), around)
            typed = edit.typed
            if edit.document is not None:
                text = drafts.write(edit.document)
            draft = await desk.read(read_toml(text), around)
            call.check(kind.deed, kind.country(draft))
            await try_draft(call, drafts, act, typed, draft, path=drafts.path)
            if act == _SUBMIT:
                return await self._published(call, draft)
        except DocumentFaults as error:
            return await self._page(call, text, typed, faults=error.faults)
        except WrongForm as wrong:
            typed = wrong.form
        except (CannotDecide, Refused) as fault:
            return await self._page(call, text, typed, fault=str(fault))
        return await self._page(call, text, typed)

    async def _published(self, call: Call, draft: Document) -> See:
        """On to the approval that a second person decides on, where the kind asks for one."""
        desk = self._drafts.desk(call.rooms)
        (outcome,) = await desk.publish(await desk.differences([draft]), call.actor)
        if outcome.approval is not None:
            return See(f"/approvals/{outcome.approval.approval_id}")
        return See(f"{self._drafts.path}?{urlencode({'of': outcome.label})}")

    async def _page(
        self, call: Call, text: str, typed: Form = EMPTY, *, faults: Sequence[Fault] = (), fault: str | None = None
    ) -> DraftPage:
        drafts, kind, desk = self._drafts, self._drafts.kind, self._drafts.desk(call.rooms)
        shown = DraftPage(
            title=f"Draft a {kind.noun}",
            command=f"abacus {kind.command} publish FILE",
            about=drafts.about,
            word=kind.word,
            path=drafts.path,
            submit=drafts.submit,
            text=text,
            form=typed,
            fault=fault,
        )
        try:
            document, around = read_toml(text), await desk.around()
            shown = replace(shown, fields=drafts.editor.form(document, typed, around))
            draft = await desk.read(document, around)
            shown = replace(
                shown,
                sentences=drafts.says(draft) if drafts.says is not None else (),
                changes=await self._changes(call, draft),
                trial_forms=trial_forms(call, drafts, draft),
                trials=await call.part(trials_of(call, drafts, draft)) if drafts.trials else None,
            )
        except DocumentFaults as error:
            faults = error.faults
        if not faults:
            return shown
        wrong = {"text": f"{len(faults)} to mend.", **drafts.editor.beside(faults)}
        return replace(shown, faults=faults, form=typed.but(**wrong))

    async def _changes(self, call: Call, draft: Document) -> Changes | None:
        """What is said of a draft that is not told as sentences."""
        if self._drafts.says is not None:
            return None
        (found,) = await self._drafts.desk(call.rooms).differences([draft])
        return Changes(found.against, found.changes, found.until)


def draft_pages(drafts: DraftKind[Document, Around]) -> tuple[Served, ...]:
    """The page of a kind's drafts, and the pages of its trials."""
    pages = _DraftPages(drafts)
    trials = (page(f"{drafts.trials_path}/{{trial:uuid}}", trial_page(drafts)),) if drafts.trials else ()
    deed = drafts.kind.deed
    return page(drafts.path, pages.begin, deed), form(drafts.path, pages.change_or_submit, deed), *trials
