"""A document that is being written: its form with its text beside it, checked by what is published, tried, shown once
more as it would be, and submitted.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic
from urllib.parse import urlencode

from abacus.console.decide.journey_picture import Picture
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.draft_text import DraftText, Taken, begun, sent, taken
from abacus.console.pages.drafts.preview import PREVIEW, PreviewCard, Previewed, card_of
from abacus.console.pages.drafts.saved_text import CARRIED, SavedAs, begun_from, carried, forget, save
from abacus.console.pages.drafts.trials import Trial, TrialForm, trial_forms, trial_page, trials_of, try_draft
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form, WrongForm
from abacus.console.web.page import ASKED, Page, Said, See
from abacus.console.web.parts import Part
from abacus.console.web.routes import Served, form, page
from abacus.core.document_text import read_toml
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.form.changes import Change, changes
from abacus.documents.form.faults import Placed, ToMend, placed, to_mend
from abacus.documents.form.parts import PREFIX, Panel
from abacus.documents.form.sentences import Sentence, sentences
from abacus.documents.kind import Around
from abacus.documents.types import Document
from abacus.engage.campaigns.decide.granting import GrantedBy
from abacus.engage.campaigns.grantors import Grantors
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed

_SUBMIT: Final = "submit"
_SAVE: Final = "save"
_OF_THE_PAGE: Final = ("text", "act", "shown", "undo", "digest", CARRIED)
_NO_FAULTS: Final = Placed({}, ())


@dataclass(frozen=True)
class Changes:
    """What publishing the draft changes, from → to: against the version that it displaces, until another takes over."""

    against: str | None
    changes: Sequence[Change]
    until: str | None
    nothing: bool


@dataclass(frozen=True, kw_only=True)
class DraftPage(Page):
    """The form and the text; every fault at its field, or what the draft says and changes where there is none. In a
    `review` exactly this text is submitted: `digest` is that of what was shown.
    """

    template: ClassVar[str] = "draft.html"
    about: str
    word: str
    path: str
    submit: str
    draft: DraftText
    saved: SavedAs | None = None
    picture: Picture | None = None
    panels: Sequence[Panel] = ()
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    touched: str = ""  # the part of the form that was changed just now
    faults: Placed = _NO_FAULTS
    to_mend: Sequence[ToMend] = ()  # the faults of fields, as a list
    sentences: Sequence[Sentence] = ()
    changes: Changes | None = None
    granted: GrantedBy | None = None
    review: bool = False
    digest: str = ""
    templates: Sequence[tuple[str, str]] = ()  # the name of each, and what it is for
    previews: PreviewCard | None = None
    preview: Part[Previewed] | None = None
    trial_forms: Sequence[TrialForm] = ()
    trials: Part[Sequence[Trial]] | None = None

    def opens(self, path: str) -> bool:
        """Whether a folded part is open: it was changed just now, or has a fault."""
        return any(
            each == path or each.startswith((f"{path}.", f"{path}[")) for each in (self.touched, *self.faults.at)
        )


class _DraftPages(Generic[Document, Around]):
    """The handlers of one kind."""

    def __init__(self, drafts: DraftKind[Document, Around]) -> None:
        self._drafts = drafts

    async def begin(self, call: Call) -> DraftPage:
        """With the saved draft or the version that the address names, with a template, or with an example."""
        label, template, draft = call.asked("of"), call.asked("template"), call.asked("draft")
        if draft is not None:
            found, saved = await begun_from(call, self._drafts, draft)
            return replace(await self._shown(call, found), saved=saved)
        if label is not None:
            return await self._shown(call, begun(await self._version(call, label)))
        for each in self._drafts.templates if template is not None else ():
            if each.name == template:
                return await self._shown(call, begun(self._drafts.kind.write(each.document(call))))
        text = self._drafts.begin(call)
        if self._drafts.beside is not None:
            text = await self._beside(call, read_toml(text))
        return await self._shown(call, begun(text))

    async def change_or_submit(self, call: Call) -> Page | See:
        """Brings the fields and the act into the text, and then shows, saves, tries or submits it."""
        act, around = call.form.get("act"), await self._drafts.surroundings(call)
        saved = await carried(call)
        found = taken(self._drafts.kind, sent(call.form), call.form.typed, act, around)
        if act == _SAVE:
            return await self._saved(call, found, around, saved)
        if found.faults:
            return replace(await self._page(call, found, around, _of_trials(call.form)), saved=saved)
        outcome = await self._tried_or_submitted(call, found, around, act)
        if isinstance(outcome, DraftPage):
            return replace(outcome, saved=saved)
        await forget(call, saved)
        return outcome

    async def _saved(self, call: Call, found: Taken, around: Around, before: SavedAs | None) -> DraftPage:
        """A draft with faults is saved too."""
        page = replace(await self._page(call, found, around, _of_trials(call.form)), form=_of_trials(call.form))
        try:
            saved = await save(call, self._drafts, found, around, before)
        except (PageFault, Refused) as fault:
            return replace(page, saved=before, fault=_why(fault))
        said = Said("Saved. Others who may see it can copy it.", link="/drafts", link_text="All drafts")
        return replace(page, saved=saved, said=said)

    async def _tried_or_submitted(self, call: Call, found: Taken, around: Around, act: str) -> Page | See:
        drafts, kind, desk = self._drafts, self._drafts.kind, self._drafts.desk(call.rooms)
        typed = _of_trials(call.form)
        try:
            draft = await desk.read(read_toml(found.draft.text), around)
            if any(each.act == act for each in drafts.trials) or act in {PREVIEW, _SUBMIT}:
                call.check(kind.deed, kind.country(draft))
            await try_draft(call, drafts, act, typed, draft, path=drafts.path, around=around)
            shown = await self._page(call, found, around, typed)
            if act == _SUBMIT and shown.digest and call.form.get("digest") == shown.digest:
                return await self._published(call, draft)
            if act == PREVIEW and shown.previews is not None and drafts.preview is not None:
                return _with_preview(shown, await call.part(drafts.preview.read(call, draft, around)), found)
        except DocumentFaults as error:
            return await self._page(call, replace(found, faults=error.faults), around, typed)
        except WrongForm as wrong:
            return await self._page(call, found, around, wrong.form)
        except (CannotDecide, PageFault, Refused) as fault:
            return await self._page(call, found, around, typed, fault=_why(fault))
        return replace(shown, review=act == _SUBMIT and bool(shown.digest))

    async def _version(self, call: Call, label: str) -> str:
        """The text of a version; of a copy, under another name."""
        kind, version = self._drafts.kind, call.asked("version")
        try:
            found = (await self._drafts.desk(call.rooms).version(f"{label}@{version}" if version else label)).document
        except Refused:
            found = None
        if found is None or not call.may(Deed.SEE, kind.country(found)):
            raise PageFault("not-found", f"No such {kind.word} is open to you.")
        if call.asked("copy") is None or kind.name_field is None:
            return kind.to_toml(found)
        if self._drafts.beside is not None:
            return await self._beside(call, read_toml(kind.to_toml(found)))
        return kind.write({**read_toml(kind.to_toml(found)), kind.name_field: f"{kind.name(found)}_copy"})

    async def _beside(self, call: Call, document: Mapping[str, Any]) -> str:
        """The text of a new document, whose name and keys no published document has."""
        beside, published = self._drafts.beside, await self._drafts.desk(call.rooms).latest()
        return self._drafts.kind.write(document if beside is None else beside(document, list(published.values())))

    async def _published(self, call: Call, draft: Document) -> Page | See:
        """On to the approval that a second person decides on, where the kind asks for one."""
        desk = self._drafts.desk(call.rooms)
        (outcome,) = await desk.publish(await desk.differences([draft]), call.actor)
        if outcome.approval is not None:
            return See(f"/approvals/{outcome.approval.approval_id}", ASKED)
        if self._drafts.published is not None:
            return await self._drafts.published(call, outcome)
        if self._drafts.page is not None:
            return See(self._drafts.page(outcome.document), f"{outcome.label} is published.")
        return See(f"{self._drafts.path}?{urlencode({'of': outcome.label})}", f"{outcome.label} is published.")

    async def _shown(self, call: Call, draft: DraftText) -> DraftPage:
        around = await self._drafts.surroundings(call)
        return await self._page(call, taken(self._drafts.kind, draft, {}, "", around), around)

    async def _page(
        self, call: Call, found: Taken, around: Around, typed: Form = EMPTY, *, fault: str | None = None
    ) -> DraftPage:
        drafts, kind, desk = self._drafts, self._drafts.kind, self._drafts.desk(call.rooms)
        shown = DraftPage(
            title=f"Draft {'an' if kind.noun[0] in 'aeiou' else 'a'} {kind.noun}",
            command=f"abacus {kind.command} publish FILE",
            about=drafts.about,
            word=kind.word,
            path=drafts.path,
            submit=drafts.submit,
            draft=found.draft,
            panels=found.fields.parts,
            lists=found.fields.lists,
            touched=_touched(call),
            templates=[(each.name, each.about) for each in drafts.templates if each.fits(around)],
            form=typed,
            fault=fault,
        )
        faults = found.faults
        if not faults:
            try:
                draft = await desk.read(read_toml(found.draft.text), around)
                faults = await desk.faults_beside(draft, around)
                if not faults:
                    drawn = None if drafts.picture is None else drafts.picture(found.document, _NO_FAULTS)
                    return await self._judged(call, replace(shown, picture=drawn), draft, around)
            except DocumentFaults as error:
                faults = error.faults
        wrong = typed.but(document=f"{len(faults)} to mend.") if call.request.method == "POST" else typed
        at = placed(faults, found.fields, found.document)
        return replace(
            shown,
            picture=None if drafts.picture is None else drafts.picture(found.document, at),
            faults=at,
            to_mend=to_mend(at, found.fields),
            form=wrong,
            trial_forms=trial_forms(call, drafts, None),
        )

    async def _judged(self, call: Call, shown: DraftPage, draft: Document, around: Around) -> DraftPage:
        """The page of a draft without faults."""
        drafts, kind, desk = self._drafts, self._drafts.kind, self._drafts.desk(call.rooms)
        if kind.form is None:
            return shown
        document = kind.to_document(draft)
        choices = kind.choices(document, around)
        (difference,), displaced = await desk.differences([draft]), await desk.displaced(draft)
        there = [draft] if displaced is None else [draft, displaced.document]
        if not all(call.may(Deed.SEE, kind.country(each)) for each in there):
            closed = f"{kind.name(draft)} is a {kind.word} of a country that is not open to you."
            return replace(shown, fault=shown.fault or closed)
        told = [] if displaced is None else changes(kind.form, kind.to_document(displaced.document), document, choices)
        changed = Changes(difference.against, told, difference.until, not difference.changes)
        return replace(
            shown,
            sentences=sentences(kind.form, document, choices),
            changes=changed,
            granted=await Grantors(call.reading.pool).beside(draft, call.now) if drafts.is_granted else None,
            digest=_digest(shown.draft.text, difference.against),
            previews=card_of(call, drafts.preview, draft),
            trial_forms=trial_forms(call, drafts, draft, around),
            trials=await call.part(trials_of(call, drafts, draft)) if drafts.trials else None,
        )


def _of_trials(form: Form) -> Form:
    """What was typed beside the document."""
    mine = {name: text for name, text in form.shown(*_OF_THE_PAGE).typed.items() if not name.startswith(PREFIX)}
    return Form(mine)


def _touched(call: Call) -> str:
    """The part that a button is of, or a field that was changed."""
    _, _, at = call.form.get("act").partition(":")
    return at or call.request.headers.get("hx-trigger-name", "").removeprefix(PREFIX).partition("/")[0]


def _with_preview(shown: DraftPage, preview: Part[Previewed], found: Taken) -> DraftPage:
    """The faults that templates have for the chosen event stand at their fields."""
    faults = () if preview.value is None else preview.value.faults
    return replace(shown, preview=preview, faults=placed(faults, found.fields, found.document))


def _why(fault: Exception) -> str:
    return fault.detail if isinstance(fault, PageFault) else str(fault)


def _digest(text: str, against: str | None) -> str:
    """Of a text, and of what it displaces: when another version came meanwhile, it is shown again."""
    return hashlib.sha256(json.dumps([text, against]).encode()).hexdigest()


def draft_pages(drafts: DraftKind[Document, Around]) -> tuple[Served, ...]:
    """The page of a kind's drafts, and the pages of its trials."""
    pages = _DraftPages(drafts)
    trials = (page(f"{drafts.trials_path}/{{trial:uuid}}", trial_page(drafts)),) if drafts.trials else ()
    deed, everywhere = drafts.kind.deed, drafts.everywhere
    return (
        page(drafts.path, pages.begin, deed, everywhere=everywhere),
        form(drafts.path, pages.change_or_submit, deed, everywhere=everywhere),
        *trials,
    )
