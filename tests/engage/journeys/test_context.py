"""The context that a member brings along."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import pytest

from abacus.engage.journeys.decide.context import LARGEST, ContextFaults, context_document, read_context
from abacus.signals.events.types import VariableType

TYPES: Final = {
    "seat": VariableType.TEXT,
    "seats": VariableType.INTEGER,
    "price": VariableType.DECIMAL,
    "window": VariableType.BOOLEAN,
    "flies_at": VariableType.TIME,
    "meals": VariableType.TEXTS,
}
GIVEN: Final = {
    "seat": "1A",
    "seats": 2,
    "price": "12.50",
    "window": True,
    "flies_at": "2026-05-04T10:00:00+08:00",
    "meals": ["rice", "fish"],
}


def _faults(document: Any) -> list[tuple[str, str]]:
    with pytest.raises(ContextFaults) as raised:
        read_context(document, TYPES)
    return [(fault.path, fault.message) for fault in raised.value.faults]


def test_each_field_is_of_its_type_and_is_kept() -> None:
    context = read_context(GIVEN, TYPES)
    assert context == {
        "seat": "1A",
        "seats": 2,
        "price": Decimal("12.50"),
        "window": True,
        "flies_at": datetime(2026, 5, 4, 2, 0, tzinfo=UTC),
        "meals": ("rice", "fish"),
    }
    assert read_context(json.loads(json.dumps(context_document(context))), TYPES) == context


def test_every_fault_has_its_pointer() -> None:
    document = {**GIVEN, "seats": "two", "a/b~": 1, "window": "yes"}
    del document["seat"]
    assert _faults(document) == [
        ("/a~1b~0", "there is no such field"),
        ("/seat", "missing"),
        ("/seats", "not an integer of 64 bits"),
        ("/window", "not true or false"),
    ]


def test_what_is_no_object_or_too_large() -> None:
    assert _faults([]) == [("", "not an object")]
    assert _faults({"seat": "x" * LARGEST}) == [("", "51,211 bytes; at most 51,200 are taken")]


@pytest.mark.parametrize("value", [10**20, "\ud800", json.loads("[" * 300 + "]" * 300)])
def test_what_is_no_json_of_ours_is_a_fault(value: object) -> None:
    ((path, _),) = _faults({**GIVEN, "seat": value})
    assert path == ""
