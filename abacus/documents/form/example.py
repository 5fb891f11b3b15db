"""The example of a kind's documents, from those of its fields. Pure."""

from collections.abc import Sequence
from typing import Any

from abacus.documents.form.types import Field, Fixed, Form, Group, OneOf


def example(form: Form) -> dict[str, Any]:
    """A document that is read without a fault, where what it names is there."""
    return _of_table(form.fields)


def _of_table(fields: Sequence[Field | OneOf]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for field in (one for each in fields for one in _shown(each)):
        if field.example is not None:
            table[field.name] = field.example
        elif isinstance(field.sort, Group):
            if inside := _of_table(field.sort.fields):
                table[field.name] = inside
        elif isinstance(field.sort, Fixed) and field.required:
            table[field.name] = field.sort.value
    return table


def _shown(each: Field | OneOf) -> Sequence[Field]:
    """Of several ways the first that has an example."""
    if isinstance(each, Field):
        return [each]
    ways = (branch.fields for branch in each.branches)
    return next((fields for fields in ways if any(one.example is not None for one in fields)), ())
