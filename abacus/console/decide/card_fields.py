"""The fields of a rate card that is being written, and its text after they were changed. Pure.

A document may have any faults; what is no such field stays as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abacus.console.decide.typed import moment, whole
from abacus.core.points import Rounding
from abacus.pricing.decide.card import Expiry, OnShortfall

Document = Mapping[str, Any]
_FIELD: Final = "f."
_ENTRY: Final = "t."
_NEW: Final = "new."
_OPTIONS: Final = {"rounding": Rounding, "expiry": Expiry, "on_shortfall": OnShortfall}
_LABELS: Final = {
    "effective_from": "In force from",
    "eppf": "Points for one unit of money",
    "rounding": "Rounding",
    "expiry_months": "Months until points lapse",
    "expiry": "Points lapse after",
    "on_shortfall": "When points to take back are spent",
}
_TABLES: Final = {
    "verticals": "Verticals",
    "payment_types": "Payment types",
    "tiers": "Tiers",
    "fixed_awards": "Fixed awards, in points",
}


@dataclass(frozen=True)
class CardField:
    """A field of a form; `options` are its values where there are only some."""

    name: str
    label: str
    value: str
    options: Sequence[tuple[str, str]] | None = None


@dataclass(frozen=True)
class CardTable:
    """Values by name, and the two fields for one more."""

    label: str
    fields: Sequence[CardField]
    new_name: str
    new_value: str


@dataclass(frozen=True)
class CardForm:
    """What a form has beside the text."""

    fields: Sequence[CardField]
    tables: Sequence[CardTable]


def form_of(document: Document) -> CardForm:
    return CardForm([_field(document, name) for name in _LABELS], [_table(document, name) for name in _TABLES])


def changed(document: Document, typed: Mapping[str, str]) -> dict[str, Any]:
    """The document with what was typed. An entry whose value is taken away goes; a new one needs a name."""
    after = dict(document)
    for name in _LABELS:
        value = typed.get(_FIELD + name, "").strip()
        if value and value != _text(document.get(name)) and (value or name in document):
            after[name] = _read(name, value)
    for table in _TABLES:
        before = document.get(table)
        entries = dict(before) if isinstance(before, Mapping) else {}
        entries = {name: _entry(table, name, value, typed) for name, value in entries.items()}
        new = typed.get(f"{_NEW}{table}.name", "").strip()
        if new:
            entries[new] = _worth(table, typed.get(f"{_NEW}{table}.value", "").strip())
        kept = {name: value for name, value in entries.items() if value is not None}
        if kept or table in document:
            after[table] = kept
    return after


def edited(shown: Document, typed: Mapping[str, str]) -> dict[str, str]:
    """The fields that were typed otherwise than a form shows them of a document."""
    values = _values(shown)
    return {
        name: value
        for name, value in typed.items()
        if name.startswith((_FIELD, _ENTRY, _NEW)) and value.strip() != values.get(name, "")
    }


def at_odds(shown: Document, text: Document, fields: Mapping[str, str]) -> dict[str, str]:
    """The fields that were edited in the text too, each with what the text says of it."""
    before, after = _values(shown), _values(text)
    return {
        name: after.get(name, "")
        for name, value in fields.items()
        if after.get(name, "") not in {before.get(name, ""), value.strip()}
    }


def field_of(path: str) -> str:
    """The name of the field that a fault's path speaks of."""
    head, _, rest = path.partition(".")
    return f"{_ENTRY}{head}.{rest}" if head in _TABLES and rest else f"{_FIELD}{head}"


def path_of(field: str) -> str:
    """Where the document has what a field shows; `field_of` of that is the field again."""
    return field.removeprefix(_FIELD).removeprefix(_ENTRY)


def _values(document: Document) -> dict[str, str]:
    form = form_of(document)
    fields = [*form.fields, *(field for table in form.tables for field in table.fields)]
    return {field.name: field.value for field in fields}


def _field(document: Document, name: str) -> CardField:
    options = _OPTIONS.get(name)
    values = [(each.value, each.value.replace("_", " ")) for each in options] if options is not None else None
    if values is not None and name not in document:
        values = [("", "not said"), *values]
    return CardField(_FIELD + name, _LABELS[name], _text(document.get(name)), values)


def _table(document: Document, table: str) -> CardTable:
    entries = document.get(table)
    rows = entries.items() if isinstance(entries, Mapping) else ()
    fields = [CardField(f"{_ENTRY}{table}.{name}", str(name), _text(value)) for name, value in rows]
    return CardTable(_TABLES[table], fields, f"{_NEW}{table}.name", f"{_NEW}{table}.value")


def _entry(table: str, name: str, value: object, typed: Mapping[str, str]) -> object:
    """None for an entry that was taken away."""
    field = f"{_ENTRY}{table}.{name}"
    if field not in typed or typed[field].strip() == _text(value):
        return value
    return _worth(table, typed[field].strip()) if typed[field].strip() else None


def _worth(table: str, typed: str) -> object:
    return whole(typed) if table == "fixed_awards" else typed


def _read(name: str, typed: str) -> object:
    match name:
        case "effective_from":
            return moment(typed)
        case "expiry_months":
            return whole(typed)
    return typed


def _text(value: object) -> str:
    return "" if value is None else value.isoformat() if hasattr(value, "isoformat") else str(value)
