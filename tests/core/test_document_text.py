"""Documents as text: the place of a fault, and TOML that comes back the same."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.document_text import Inline, Tables, read_json, read_toml, write_toml
from abacus.core.fields import DocumentFaults, Fault

texts = st.text(st.characters(codec="utf-8"), max_size=10)
scalars = texts | st.booleans() | st.integers(-(2**63), 2**63 - 1)
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(texts, scalars, max_size=3).map(Inline)
documents = st.recursive(
    st.dictionaries(texts, values, max_size=3),
    lambda inner: st.dictionaries(texts, values | inner | st.lists(inner, max_size=3).map(Tables), max_size=3),
)


def fault_of(read: Any, text: str) -> Fault:
    with pytest.raises(DocumentFaults) as refused:
        read(text)
    (fault,) = refused.value.faults
    return fault


@given(documents)
def test_a_document_comes_back_from_its_toml(document: dict[str, Any]) -> None:
    assert read_toml(write_toml(document)) == document
    assert tomllib.loads(write_toml(document)) == document


def test_arrays_of_tables_have_headings() -> None:
    document = {"a": 1, "steps": Tables([{"at": 2, "do": Tables([{"b": {"c": 3}}])}, {}])}
    assert write_toml(document).split("\n") == [
        "a = 1",
        "",
        "[[steps]]",
        "at = 2",
        "",
        "[[steps.do]]",
        "",
        "[steps.do.b]",
        "c = 3",
        "",
        "[[steps]]",
        "",
    ]


def test_json_is_read() -> None:
    assert read_json('{"a": {"b": [1, "x"]}}') == {"a": {"b": [1, "x"]}}


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("{", "line 1, column 2", "not JSON"),
        ('{\n  "a": tru\n}', "line 2, column 8", "not JSON"),
        ("", "line 1, column 1", "not JSON"),
        ('{"a": {"b": 1, "b": 2}}', "document", '"b" stands twice in one table'),
        ("[" * 100_000, "document", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "document", "digits"),
    ],
)
def test_what_is_no_json(text: str, path: str, message: str) -> None:
    fault = fault_of(read_json, text)
    assert fault.path == path
    assert message in fault.message


@pytest.mark.parametrize(("text", "path"), [("a =", "line 1, column 4"), ("a = 1\na = 2", "line 2, column 6")])
def test_what_is_no_toml(text: str, path: str) -> None:
    assert fault_of(read_toml, text).path == path
