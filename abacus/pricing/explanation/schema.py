"""The JSON Schema of the explanations that this version writes. Pure."""

from typing import Any, Final

from pydantic import TypeAdapter

from abacus.pricing.explanation.text import VERSION_FIELD
from abacus.pricing.explanation.types import VERSION, Explanation

NAME: Final = f"explanation.v{VERSION}"

_REFERENCES: Final = "#/$defs/{model}"


def schema() -> dict[str, Any]:
    """One of the kinds, each closed: a field more is a version more."""
    document = TypeAdapter[Explanation](Explanation).json_schema(ref_template=_REFERENCES)
    kinds = {each["$ref"].removeprefix(_REFERENCES.format(model="")) for each in document["anyOf"]}
    forms = {name: _closed(form) if name in kinds else form for name, form in document["$defs"].items()}
    return {"$defs": forms, "oneOf": document["anyOf"]}


def _closed(form: dict[str, Any]) -> dict[str, Any]:
    """A kind as it is written: with its version, and without fields that have no value."""
    properties = {name: _without_null(value) for name, value in form["properties"].items()}
    return {
        **form,
        "properties": {VERSION_FIELD: {"const": VERSION, "title": "V", "type": "integer"}, **properties},
        "required": [VERSION_FIELD, *form["required"]],
        "additionalProperties": False,
    }


def _without_null(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("default", ...) is not None:
        return value
    (only,) = (each for each in value["anyOf"] if each != {"type": "null"})
    rest = {name: each for name, each in value.items() if name not in {"anyOf", "default"}}
    return {**only, **rest}
