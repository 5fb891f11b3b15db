"""The JSON schema of a kind's documents, for the manual of the API. Pure."""

import json
from collections.abc import Sequence
from typing import Any, Final

from abacus.documents.form.types import (
    Choice,
    Day,
    Either,
    Entries,
    Field,
    Fixed,
    Flag,
    Form,
    Group,
    Length,
    Moment,
    OneOf,
    Rows,
    Rule,
    Several,
    Sort,
    Text,
    Whole,
    flat,
)

_RULE: Final = {
    "type": "object",
    "description": "A rule: an operator with a left side and a constant, or with conditions",
}


def schema(form: Form) -> dict[str, Any]:
    """An object of the fields, with those that are required; the ways of which one is taken are told in words."""
    return _of_table(form.fields)


def _of_table(fields: Sequence[Field | OneOf]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for each in flat(fields):
        properties[each.name] = _either(properties.get(each.name), _of_field(each))
    required = [name for each in fields for name in _required(each)]
    choices = [" or ".join(_names(each)) for each in fields if isinstance(each, OneOf)]
    described = {"description": f"One of {'; one of '.join(choices)}"} if choices else {}
    closed = {"type": "object", "properties": properties, "additionalProperties": False, **described}
    return {**closed, "required": required} if required else closed


def _required(each: Field | OneOf) -> list[str]:
    """Of a choice, what each of its ways needs."""
    if isinstance(each, Field):
        return [each.name] if each.required else []
    ways = [[one.name for one in branch.fields if one.required] for branch in each.branches]
    return [name for name in ways[0] if all(name in way for way in ways)]


def _names(choice: OneOf) -> list[str]:
    return [", ".join(map(_name, each.fields)) if each.fields else "none of them" for each in choice.branches]


def _name(field: Field) -> str:
    return f"{field.name} {json.dumps(field.sort.value)}" if isinstance(field.sort, Fixed) else field.name


def _either(before: dict[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    """Of a name that several ways have."""
    if before is None or before == more:
        return more
    known = before.get("anyOf", [before])
    return {"anyOf": known if more in known else [*known, more]}


def _of_field(field: Field) -> dict[str, Any]:
    words = ". ".join(each.rstrip(".") for each in (field.label, field.help) if each)
    example = {} if field.example is None else {"examples": [field.example]}
    return {**_of_sort(field.sort), "description": words, **example}


def _of_sort(sort: Sort) -> dict[str, Any]:  # noqa: C901, PLR0911, PLR0912  # a case for each sort
    match sort:
        case Group(fields):
            return _of_table(fields)
        case Rows(of=of, at_most=most):
            return {"type": "array", "items": _of_sort(of), "maxItems": most}
        case Entries(key=Text(pattern=pattern), of=of) if pattern is not None:
            return {
                "type": "object",
                "patternProperties": {f"^({pattern})$": _of_sort(of)},
                "additionalProperties": False,
            }
        case Entries(of=of):
            return {"type": "object", "additionalProperties": _of_sort(of)}
        case Either(sorts):
            return {"anyOf": [_of_sort(each) for _, each in sorts]}
        case Choice(options):
            return {"type": "string", "enum": [each.value for each in options]}
        case Several(of):
            return {"type": "array", "items": _of_sort(of), "uniqueItems": True}
        case Whole(low=low, high=high):
            return {"type": "integer", "minimum": low, **({} if high is None else {"maximum": high})}
        case Flag():
            return {"type": "boolean"}
        case Fixed(value):
            return {"const": value}
        case Moment():
            return {"type": "string", "format": "date-time"}
        case Day():
            return {"type": "string", "format": "date"}
        case Rule():
            return dict(_RULE)
        case Length(units):
            return {"type": "string", "pattern": f"^[1-9][0-9]*[{units}]$"}
        case Text(pattern=pattern) if pattern is not None:
            return {"type": "string", "pattern": f"^({pattern})$"}
    return {"type": "string"}
