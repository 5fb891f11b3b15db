"""What people and programs see: keys as they are, no folded cell, times as RFC 3339 writes them."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
import typer

from abacus.cli.terminal import answer
from abacus.cli.terminal.answer import Answer, Aside, Formats, Secret, Table
from abacus.cli.terminal.documents import text_of
from abacus.cli.terminal.layout import visible
from tests.support.commands import not_rfc3339

DATA = ("txn:taxi:T1", "[bold]not bold[/bold]", "[/]", "https://example.com/:smile:")


@pytest.fixture
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer.console, "_width", 80)


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("data", DATA)
def test_data_is_printed_as_it_is(capsys: pytest.CaptureFixture[str], data: str) -> None:
    answer.console.print(data)
    answer.errors.print(data)
    Table(data, ["key", data], [[data, "1"]]).print()
    Table(data, ["key"], [[data], ["long " * 20]]).print()
    printed = capsys.readouterr()
    assert printed.err == f"{data}\n"
    assert printed.out.count(data) == 6


@pytest.mark.usefixtures("width")
def test_control_characters_are_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    data = "\x1b[31mred\x1b[0m \x9b2J \u202egnp.exe\rx\x07"
    answer.console.print(data)
    answer.errors.print(data)
    Table("title", ["name"], [[data]]).print()
    answer.print_json({"data": data, "half": "\ud83d"})
    printed = capsys.readouterr()
    for character in "\x1b\x9b\u202e\r\x07\ud83d":
        assert character not in printed.out + printed.err
    assert r"\x1b[31mred\x1b[0m \x9b2J \u202egnp.exe\x0dx\x07" in printed.err
    document = json.loads(printed.out.splitlines()[-1])
    assert document == {"data": data, "half": "\ud83d"}


def test_an_address_and_other_scripts_are_not_escaped() -> None:
    for text in ("https://a.example/b?c=d", "Nguyễn Thị Ánh", "สวัสดี", "👩‍👧", "two\nlines"):
        assert visible(text) == text


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize(
    ("columns", "rows", "lines"),
    [
        (
            ["key", "points"],
            [["txn:taxi:" + "9" * 80, "20,610"], ["short", ""]],
            ["key: txn:taxi:" + "9" * 80, "points: 20,610", "", "key: short"],
        ),
        (["key", "detail"], [["a", "x" * 78 + "\nsecond"]], ["key: a", "detail: " + "x" * 78, "  second"]),
        (["a" * 50, "b" * 50], [], ["none"]),
    ],
    ids=["a long key", "a cell of two lines", "nothing"],
)
def test_a_row_that_does_not_fit_is_a_block_of_lines(
    capsys: pytest.CaptureFixture[str], columns: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[str]
) -> None:
    Table("Title", columns, rows).print()
    assert capsys.readouterr().out.splitlines() == ["Title", *lines]


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("longest", range(60, 80))
def test_no_cell_is_ever_folded(capsys: pytest.CaptureFixture[str], longest: int) -> None:
    cells = ["20,610", "k" * longest]
    Table("Title", ["points", "key"], [cells]).print()
    printed = capsys.readouterr().out
    assert all(cell in printed for cell in cells)


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize(
    ("as_json", "out", "err"),
    [
        (True, ['{"key": "k", "points": 1200}'], []),
        (False, ["k", "Points", "points: 1,200", "key: " + "k" * 80], ["shown this once:", "beware"]),
    ],
)
def test_an_answer_is_a_document_or_what_a_person_reads(
    capsys: pytest.CaptureFixture[str], *, as_json: bool, out: list[str], err: list[str]
) -> None:
    table = Table("Points", ["points", "until", "key"], [[1200, None, "k" * 80]])
    answered = Answer({"key": "k", "points": 1200}, Secret("shown this once", "k"), Aside("beware"), table, exit_code=1)
    with pytest.raises(typer.Exit) as ended:
        answered.print(Formats(as_json))
    printed = capsys.readouterr()
    assert (printed.out.splitlines(), printed.err.splitlines(), ended.value.exit_code) == (out, err, 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime(2026, 5, 1, 12, tzinfo=UTC), '"2026-05-01T12:00:00+00:00"'),
        (datetime(2026, 5, 1, 12, 0, 0, 5, timezone(timedelta(hours=8))), '"2026-05-01T12:00:00.000005+08:00"'),
        (datetime(1890, 1, 1, tzinfo=timezone(timedelta(hours=6, seconds=30))), '"1889-12-31T17:59:30+00:00"'),
        (date(2026, 5, 1), '"2026-05-01"'),
        (Decimal("1E+3"), '"1000"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Path("a/b"), '"a/b"'),
        (["txn:taxi:T1"], '["txn:taxi:T1"]'),
    ],
)
def test_a_value_has_one_form_in_json(value: object, text: str) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize("value", [datetime(2026, 5, 1), object(), b"x"], ids=type)  # noqa: DTZ001  # without an offset on purpose
def test_a_value_without_a_form_is_not_guessed(value: object) -> None:
    with pytest.raises(TypeError):
        text_of(value)


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        ({"at": "2026-05-01T12:00:00+08:00", "day": "2026-05-01", "month": "2026-05"}, []),
        ({"at": ["2026-05-01T12:00:00Z", "2026-05-01T12:00:00.125+00:00"]}, []),
        ({"at": [{"x": "2026-05-01 12:00:00+00:00"}]}, ["2026-05-01 12:00:00+00:00"]),
        ({"at": "2026-05-01T12:00:00"}, ["2026-05-01T12:00:00"]),
        ({"at": "2026-05-01 12:00"}, ["2026-05-01 12:00"]),
    ],
)
def test_every_json_document_in_these_tests_is_searched_for_other_times(document: object, wrong: list[str]) -> None:
    assert list(not_rfc3339(document)) == wrong
