"""The context that a member brings along: read as its fields' types, and kept as JSON. Pure."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import orjson

from abacus.core.fields import DocumentFaults, Fault
from abacus.core.points import plain
from abacus.signals.events.decide.values import READERS, Wrong
from abacus.signals.events.types import Value, VariableType

LARGEST: Final = 50 * 1024  # bytes


class ContextFaults(DocumentFaults):
    """Every fault of a context; paths are pointers into it, by RFC 6901."""


def check_size(document: Mapping[str, object]) -> None:
    """Raises `ContextFaults` for what is too large, or what is no JSON of ours: a number beyond 64 bits, a text that is
    not one of Unicode, or a nesting without end.
    """
    try:
        size = len(orjson.dumps(document))
    except orjson.JSONEncodeError as fault:
        raise ContextFaults([Fault("", str(fault))]) from None
    if size > LARGEST:
        raise ContextFaults([Fault("", f"{size:,} bytes; at most {LARGEST:,} are taken")])


def read_context(document: object, types: Mapping[str, VariableType]) -> Mapping[str, Value]:
    """A context has each of these fields and no others. Raises `ContextFaults`."""
    if not isinstance(document, Mapping):
        raise ContextFaults([Fault("", "not an object")])
    check_size(document)
    values: dict[str, Value] = {}
    faults = [Fault(_pointer(name), "there is no such field") for name in document if name not in types]
    for name, type_ in types.items():
        if name not in document:
            faults.append(Fault(_pointer(name), "missing"))
            continue
        try:
            values[name] = READERS[type_](document[name])
        except Wrong as wrong:
            faults.append(Fault(_pointer(name), str(wrong)))
    if faults:
        raise ContextFaults(faults)
    return values


def context_document(context: Mapping[str, Value]) -> dict[str, Any]:
    """As `read_context` reads it."""
    return {name: written(value) for name, value in context.items()}


def written(value: Value) -> object:
    """A value as JSON has it."""
    match value:
        case Decimal():
            return plain(value)
        case datetime():
            return value.isoformat()
        case tuple():
            return list(value)
        case _:
            return value


def _pointer(name: str) -> str:
    return f"/{name.replace('~', '~0').replace('/', '~1')}"
