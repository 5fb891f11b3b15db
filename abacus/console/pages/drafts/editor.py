"""What a kind's form does to a draft: named fields beside the text, which either may change."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from abacus.console.decide.document_fields import DocumentFields, is_field, path_of
from abacus.console.decide.draft_form import DraftForm
from abacus.console.web.forms import Form
from abacus.core.document_text import read_toml
from abacus.core.fields import DocumentFaults, Fault

Around_contra = TypeVar("Around_contra", contravariant=True)
APPLY: Final = "apply"  # puts the fields into the text, whatever that says of them
_SHOWN: Final = "shown"  # the text that the fields were shown with


class Edit(NamedTuple):
    """The document after an act, None where it is the same; and what stays in the fields, with its faults."""

    document: Mapping[str, Any] | None
    typed: Form


class Editor(Protocol[Around_contra]):
    """The form of a kind. A document may have any faults: the form shows what it can read."""

    def form(self, document: Mapping[str, Any], typed: Form, around: Around_contra) -> DraftForm: ...

    def edit(self, act: str, document: Mapping[str, Any], typed: Form, around: Around_contra) -> Edit:
        """What the act does to the document. Raises `DocumentFaults`."""

    def beside(self, faults: Sequence[Fault]) -> Mapping[str, str]:
        """The faults that stand beside a field, by its name."""


class FieldEditor:
    """Fields that follow the text, and a text that follows the fields, whichever button is pressed."""

    def __init__(self, fields: DocumentFields) -> None:
        self._fields = fields

    def form(self, document: Mapping[str, Any], _typed: Form, _around: object) -> DraftForm:
        return self._fields.form(document)

    def edit(self, act: str, document: Mapping[str, Any], typed: Form, _around: object) -> Edit:
        """Puts the fields into the document that were edited since both were the same. Raises `DocumentFaults`, also
        where the document says something else of such a field by now.
        """
        shown = _document(typed.exactly(_SHOWN)) or document
        edited = self._fields.edited(shown, typed.typed)
        odd = self._fields.at_odds(shown, document, edited) if act != APPLY else {}
        if odd:
            raise DocumentFaults(
                Fault(path_of(name), f"the field says {edited[name] or 'nothing'}, and the text {value or 'nothing'}")
                for name, value in odd.items()
            )
        rest = {name: value for name, value in typed.typed.items() if not is_field(name) and name != _SHOWN}
        return Edit(self._fields.changed(document, edited) if edited else None, Form(rest))

    def beside(self, faults: Sequence[Fault]) -> Mapping[str, str]:
        return {self._fields.field_of(each.path): each.message for each in faults}


def _document(text: str) -> Mapping[str, Any] | None:
    try:
        return read_toml(text) if text else None
    except DocumentFaults:
        return None
