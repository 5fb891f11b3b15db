"""CSV: what a spreadsheet would run is text in it, numbers are numbers, and what was written is read as it was."""

import ast
import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.csv_text import CsvWriter, csv_text, meant, shown
from tests.support.paths import ROOT

LINES = [
    (["bob", 5, None, "a b"], "bob,5,,a b"),
    ([-5, Decimal("-1.50"), 0.5, True], "-5,-1.50,0.5,True"),
    (["-5", "+5", "-1.50"], "-5,+5,-1.50"),  # money is text, and a number
    (["=cmd|' /C calc'!A0"], "\"'=cmd|' /C calc'!A0\""),
    (["@SUM(A1:A9)"], "'@SUM(A1:A9)"),
    (["+1+1", "-1-1", "-", "="], "'+1+1,'-1-1,-,="),
    (["\t=1", "\r=1", "\n=1"], '"\'\t=1","\'\r=1","\'\n=1"'),
    ([" =1+1", " bob"], "' =1+1, bob"),
    (["\uff1d1", "\uff201"], "'\uff1d1,'\uff201"),
    (["'=1"], "''=1"),
    (["'quoted'", "it's"], "'quoted',it's"),
    (["a;=1+1"], '"a;=1+1"'),  # where a semicolon ends a field
    (['say "no", please'], '"say ""no"", please"'),
    ([""], '""'),
]


@pytest.mark.parametrize(("cells", "line"), LINES)
def test_a_line(cells: list[object], line: str) -> None:
    assert csv_text([cells]) == f"{line}\r\n"


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2)))
def test_what_was_written_is_read_as_it_was(rows: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    CsvWriter(written).rows(rows)
    assert written.getvalue() == csv_text(rows)
    read = list(csv.reader(io.StringIO(written.getvalue(), newline=""), strict=True))
    assert [[meant(cell) for cell in row] for row in read] == rows


@given(st.text())
def test_no_cell_begins_as_a_formula_but_a_number(text: str) -> None:
    cell = shown(text)
    assert len(cell) < 2 or cell[0] not in "=+-@\t\r\n" or Decimal(cell).is_finite()


@pytest.mark.long
def test_nobody_else_writes_csv() -> None:
    """A second writer would be the one that forgets."""
    found = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "abacus").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"writer", "DictWriter"}
        if isinstance(node.value, ast.Name) and node.value.id == "csv"
    ]
    assert found == []
