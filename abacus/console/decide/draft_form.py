"""The form of a draft, as values that one template shows: fields, tables of fields, and rows. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FormField:
    """A field; `options` are its values where there are only some, and `follows` names the field that they depend on.
    `type` is that of an input, or `textarea`.
    """

    name: str
    label: str
    value: str = ""
    options: Sequence[tuple[str, str]] | None = None
    hint: str | None = None
    type: str = "text"
    inputmode: str | None = None
    follows: str | None = None


@dataclass(frozen=True)
class FieldTable:
    """Values by name, and the two fields for one more."""

    label: str
    fields: Sequence[FormField]
    new_name: str
    new_value: str


@dataclass(frozen=True)
class FormRow:
    """A part of the document in words; `remove` is the act that takes it away."""

    says: str
    remove: str
    depth: int = 0


@dataclass(frozen=True)
class RowList:
    """Parts of one sort, and the fields for one more; `add` is the act that adds it, `empty` what stands for none."""

    title: str
    rows: Sequence[FormRow]
    fields: Sequence[FormField]
    add: str
    empty: str = ""


@dataclass(frozen=True)
class DraftForm:
    """Everything that a form has beside the text."""

    fields: Sequence[FormField] = ()
    tables: Sequence[FieldTable] = ()
    lists: Sequence[RowList] = ()
