"""A document as fields: what a form shows of it, and the document after the fields were changed. Pure.

A document may have any faults; what is no such field stays as it is.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abacus.console.decide.draft_form import DraftForm, FieldTable, FormField

Document = Mapping[str, Any]
_FIELD: Final = "f."
_ENTRY: Final = "t."
_NEW: Final = "new."


class FieldSort(NamedTuple):
    """A field, or a table of fields: its label, its values where there are only some, and how a value is read."""

    label: str
    read: Callable[[str], object] = str
    options: type[StrEnum] | None = None


class DocumentFields:
    """The fields of one kind of documents, and its tables from names to values."""

    def __init__(self, fields: Mapping[str, FieldSort], tables: Mapping[str, FieldSort] = MappingProxyType({})) -> None:
        self._fields = fields
        self._tables = tables

    def form(self, document: Document) -> DraftForm:
        return DraftForm(
            [self._field(document, name) for name in self._fields],
            [self._table(document, name) for name in self._tables],
        )

    def changed(self, document: Document, typed: Mapping[str, str]) -> dict[str, Any]:
        """The document with what was typed. An entry whose value is taken away goes; a new one needs a name."""
        after = dict(document)
        for name, sort in self._fields.items():
            value = typed.get(_FIELD + name, "").strip()
            if value and value != _text(document.get(name)):
                after[name] = sort.read(value)
        for table, sort in self._tables.items():
            before = document.get(table)
            entries = dict(before) if isinstance(before, Mapping) else {}
            entries = {name: _entry(f"{_ENTRY}{table}.{name}", value, sort, typed) for name, value in entries.items()}
            if new := typed.get(f"{_NEW}{table}.name", "").strip():
                entries[new] = sort.read(typed.get(f"{_NEW}{table}.value", "").strip())
            kept = {name: value for name, value in entries.items() if value is not None}
            if kept or table in document:
                after[table] = kept
        return after

    def edited(self, shown: Document, typed: Mapping[str, str]) -> dict[str, str]:
        """The fields that were typed otherwise than a form shows them of a document."""
        values = self._values(shown)
        return {
            name: value for name, value in typed.items() if is_field(name) and value.strip() != values.get(name, "")
        }

    def at_odds(self, shown: Document, text: Document, fields: Mapping[str, str]) -> dict[str, str]:
        """The fields that were edited in the text too, each with what the text says of it."""
        before, after = self._values(shown), self._values(text)
        return {
            name: after.get(name, "")
            for name, value in fields.items()
            if after.get(name, "") not in {before.get(name, ""), value.strip()}
        }

    def field_of(self, path: str) -> str:
        """The name of the field that a fault's path speaks of."""
        head, _, rest = path.partition(".")
        return f"{_ENTRY}{head}.{rest}" if head in self._tables and rest else f"{_FIELD}{head}"

    def _values(self, document: Document) -> dict[str, str]:
        form = self.form(document)
        fields = [*form.fields, *(field for table in form.tables for field in table.fields)]
        return {field.name: field.value for field in fields}

    def _field(self, document: Document, name: str) -> FormField:
        sort = self._fields[name]
        values = None
        if sort.options is not None:
            values = [(each.value, each.value.replace("_", " ")) for each in sort.options]
            if name not in document:
                values = [("", "not said"), *values]
        return FormField(_FIELD + name, sort.label, _text(document.get(name)), values)

    def _table(self, document: Document, table: str) -> FieldTable:
        entries = document.get(table)
        rows = entries.items() if isinstance(entries, Mapping) else ()
        fields = [FormField(f"{_ENTRY}{table}.{name}", str(name), _text(value)) for name, value in rows]
        return FieldTable(self._tables[table].label, fields, f"{_NEW}{table}.name", f"{_NEW}{table}.value")


def is_field(name: str) -> bool:
    """Whether it names a field of a document, among all that a form has."""
    return name.startswith((_FIELD, _ENTRY, _NEW))


def path_of(field: str) -> str:
    """Where the document has what a field shows; `field_of` of that is the field again."""
    return field.removeprefix(_FIELD).removeprefix(_ENTRY)


def _entry(field: str, value: object, sort: FieldSort, typed: Mapping[str, str]) -> object:
    """None for an entry that was taken away."""
    if field not in typed or typed[field].strip() == _text(value):
        return value
    return sort.read(typed[field].strip()) if typed[field].strip() else None


def _text(value: object) -> str:
    return "" if value is None else value.isoformat() if hasattr(value, "isoformat") else str(value)
