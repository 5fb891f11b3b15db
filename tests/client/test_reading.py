"""JSON read by the types of a dataclass."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest

from abacus_client.reading import read

ID = "0b3d0c1e-7c5b-5b0e-9f5e-3a2b1c0d9e8f"


@dataclass(frozen=True, slots=True)
class Part:
    n: int


@dataclass(frozen=True, slots=True)
class Whole:
    text: str
    flag: bool = False
    count: int | None = None
    kind: Literal["a", "b"] = "a"
    id: UUID | None = None
    day: date | None = None
    time: datetime | None = None
    amount: int | Decimal | None = None
    from_: str = ""
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    more: Mapping[str, Any] | None = None


READ: list[tuple[dict[str, object], Whole]] = [
    ({"text": "x"}, Whole("x")),
    ({"text": "x", "unknown": 1}, Whole("x")),
    ({"text": "x", "count": None}, Whole("x")),
    ({"text": "x", "flag": True, "count": 10**15, "kind": "b"}, Whole("x", flag=True, count=10**15, kind="b")),
    ({"text": "x", "id": ID}, Whole("x", id=UUID(ID))),
    ({"text": "x", "day": "2026-11-30"}, Whole("x", day=date(2026, 11, 30))),
    ({"text": "x", "amount": 3}, Whole("x", amount=3)),
    ({"text": "x", "amount": "3.50", "from": "here"}, Whole("x", amount=Decimal("3.50"), from_="here")),
    ({"text": "x", "time": "2026-05-01T12:00:00Z"}, Whole("x", time=datetime(2026, 5, 1, 12, tzinfo=UTC))),
    (
        {"text": "x", "part": {"n": 1}, "parts": [{"n": 2}, {"n": 3}]},
        Whole("x", part=Part(1), parts=(Part(2), Part(3))),
    ),
    ({"text": "x", "more": {"a": [1, {"b": None}]}}, Whole("x", more={"a": [1, {"b": None}]})),
]
REFUSED: list[tuple[object, str]] = [
    (None, "/: an object"),
    ([], "/: an object"),
    ({}, "/text is missing"),
    ({"text": None}, "/text: str"),
    ({"text": 1}, "/text: str"),
    ({"text": "x", "flag": 1}, "/flag: bool"),
    ({"text": "x", "count": True}, "/count: int"),
    ({"text": "x", "count": 1.0}, "/count: int"),
    ({"text": "x", "count": "1"}, "/count: int"),
    ({"text": "x", "amount": "much"}, "/amount: a decimal"),
    ({"text": "x", "from": 1}, "/from: str"),
    ({"text": "x", "kind": "c"}, "/kind: "),
    ({"text": "x", "kind": []}, "/kind: "),
    ({"text": "x", "id": "no"}, "/id: "),
    ({"text": "x", "day": "31.12.2026"}, "/day: "),
    ({"text": "x", "day": 1}, "/day: date"),
    ({"text": "x", "time": "soon"}, "/time: "),
    ({"text": "x", "part": []}, "/part: an object"),
    ({"text": "x", "parts": {"n": 1}}, "/parts: "),
    ({"text": "x", "parts": [{"n": 1}, {"n": "2"}]}, "/parts/1/n: int"),
    ({"text": "x", "more": []}, "/more: "),
]


@pytest.mark.parametrize(("document", "value"), READ)
def test_a_document_as_a_value(document: object, value: Whole) -> None:
    assert read(Whole, json.dumps(document).encode()) == value


@pytest.mark.parametrize(("document", "words"), REFUSED)
def test_a_document_that_is_not_as_it_must_be(document: object, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}"):
        read(Whole, json.dumps(document).encode())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "Expecting value"),
        (b"<html>", "Expecting value"),
        (b'{"text"', "Expecting ':'"),
        (b"\xff", "invalid start byte"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"text": ' + b"9" * 5000 + b"}", "digits"),
    ],
)
def test_content_that_is_no_json(content: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(Whole, content)
