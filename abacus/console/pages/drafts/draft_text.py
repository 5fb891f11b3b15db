"""A draft as its page carries it: the text, the text that its fields were shown with, and the texts before."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from abacus.console.web.forms import Form
from abacus.core.document_text import read_toml
from abacus.core.fields import DocumentFaults, Fault
from abacus.documents.form.edit import Edit
from abacus.documents.form.parts import Shown
from abacus.documents.form.path import as_faults_have_it
from abacus.documents.form.steps import applied, changed_elsewhere
from abacus.documents.form.text import changed_text
from abacus.documents.form.view import view
from abacus.documents.kind import Around, DocumentKind

UNDO: Final = "undo"
_MOST_BEFORE: Final = 10
_BOTH: Final = "the field and the text were both changed; mend one of them"
_LARGEST: Final = 60_000  # characters of all texts before


@dataclass(frozen=True)
class DraftText:
    """`shown` is the last text that could be read: its fields stay while the text has a fault of syntax."""

    text: str
    shown: str
    before: Sequence[str] = ()

    @property
    def undo(self) -> str:
        """The texts before, for the form to carry."""
        return json.dumps(list(self.before))


@dataclass(frozen=True)
class Taken:
    """A draft after an act: its document, its form, and what is wrong before anybody has judged it."""

    draft: DraftText
    document: Mapping[str, Any]
    fields: Shown
    faults: Sequence[Fault] = ()


def begun(text: str, before: Sequence[str] = ()) -> DraftText:
    return DraftText(text, text, before)


def sent(form: Form) -> DraftText:
    """What a form carries of its draft."""
    text, shown = (form.exactly(name).replace("\r\n", "\n") for name in ("text", "shown"))
    return DraftText(text, shown or text, _kept(_before(form.exactly(UNDO))))


def taken(
    kind: DocumentKind[Any, Around], draft: DraftText, typed: Mapping[str, str], act: str, around: Around
) -> Taken:
    """The draft with its fields and its act in its text. Where the text cannot be read, or says something else of a
    field that was edited too, nothing is lost: the text and the fields are as they were typed.
    """
    if kind.form is None:
        raise TypeError(f"{kind.plural} declare no form")
    if act == UNDO and draft.before:
        draft = DraftText(draft.before[-1], draft.before[-1], draft.before[:-1])
        typed = {}
    shown = _document(draft.shown)
    edit = Edit(kind.form, shown, kind.choices(shown, around))
    try:
        document = read_toml(draft.text)
    except DocumentFaults as error:
        return _taken(kind, draft, applied(shown, edit.steps(typed)), around, error.faults)
    steps = edit.steps(typed, act)
    if odd := changed_elsewhere(shown, document, steps):
        faults = [Fault(as_faults_have_it(each), _BOTH) for each in odd]
        return _taken(kind, draft, applied(shown, edit.steps(typed)), around, faults)
    text = changed_text(draft.text, steps, kind.write)
    after = read_toml(text)
    before = draft.before if text == draft.shown else _kept([*draft.before, draft.shown])
    return _taken(kind, replace(draft, text=text, shown=text, before=before), after, around)


def _taken(
    kind: DocumentKind[Any, Around],
    draft: DraftText,
    document: Mapping[str, Any],
    around: Around,
    faults: Sequence[Fault] = (),
) -> Taken:
    if kind.form is None:
        raise TypeError(f"{kind.plural} declare no form")
    return Taken(draft, document, view(kind.form, document, kind.choices(document, around)), faults)


def _document(text: str) -> Mapping[str, Any]:
    try:
        return read_toml(text)
    except DocumentFaults:
        return {}


def _before(text: str) -> list[str]:
    try:
        found = json.loads(text) if text else []
    except ValueError:
        return []
    return [str(each) for each in found] if isinstance(found, list) else []


def _kept(texts: list[str]) -> list[str]:
    texts = texts[-_MOST_BEFORE:]
    while texts and sum(map(len, texts)) > _LARGEST:
        texts = texts[1:]
    return texts
