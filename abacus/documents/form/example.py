"""The example of a kind's documents, from those of its fields. Pure."""

from collections.abc import Sequence
from typing import Any

from abacus.documents.form.types import Field, Fixed, Form, Group, OneOf, flat


def example(form: Form) -> dict[str, Any]:
    """A document that is read without a fault, where what it names is there."""
    return _of_table(form.fields)


def _of_table(fields: Sequence[Field | OneOf]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for field in flat(fields):
        if field.example is not None:
            table[field.name] = field.example
        elif isinstance(field.sort, Group):
            if inside := _of_table(field.sort.fields):
                table[field.name] = inside
        elif isinstance(field.sort, Fixed) and field.required:
            table[field.name] = field.sort.value
    return table
