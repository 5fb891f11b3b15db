"""Files of members: CSV and Parquet, with a header or without, with bad lines and lines that change."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from abacus.core.errors import Refused
from abacus.signals.segments.member_files import BATCH, Lines, check, member_ids, number, open_members
from abacus.signals.segments.types import BadLine, Members

pytestmark = pytest.mark.once

GOOD = "member_id\nann\nbob\n"


def read(path: Path, column: str | None = None, *, named: bool = True) -> list[str | BadLine]:
    with open_members(path, column, named=named) as rows:
        return list(member_ids(rows))


@pytest.mark.parametrize(
    ("content", "column", "named", "expected"),
    [
        (GOOD, None, True, ["ann", "bob"]),
        ("﻿member_id\r\nann\r\n\r\nbob", None, True, ["ann", "bob"]),
        ("country, member_id\nSG,ann\nID,bob\n", None, True, ["ann", "bob"]),
        ("customer,member_id\nann,x\nbob,y\n", "customer", True, ["ann", "bob"]),
        ("ann,1\nbob,2\n", None, False, ["ann", "bob"]),
        ('member_id\n"a,b"\n', None, True, ["a,b"]),
        ("member_id\n", None, True, []),
    ],
)
def test_the_members_of_a_file_are_those_of_one_column(
    tmp_path: Path, content: str, column: str | None, named: object, expected: list[str]
) -> None:
    path = tmp_path / "members.csv"
    path.write_text(content, encoding="utf-8", newline="")
    assert read(path, column, named=bool(named)) == expected


@pytest.mark.parametrize(
    ("content", "column", "fault"),
    [
        ("", None, "it is empty"),
        ("ann\nbob\n", None, "no column 'member_id'; name the column with --column, or say --no-header"),
        (GOOD, "customer", "no column 'customer'; name"),
        ("member_id,member_id\n", None, "the column 'member_id' stands there twice"),
    ],
)
def test_a_file_without_the_column_is_refused(tmp_path: Path, content: str, column: str | None, fault: str) -> None:
    path = tmp_path / "members.csv"
    path.write_text(content)
    with pytest.raises(Refused, match=fault):
        read(path, column)


def test_a_bad_line_is_told_with_its_number_and_reading_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "members.csv"
    path.write_bytes(b"member_id,country\nann,SG\n bob,SG\n,SG\n\xff,SG\n" + b"x" * 129 + b",SG\ncid\ndan,SG\n")
    seen: list[BadLine] = []
    assert check(read(path), seen.append, lambda: None) == Lines(7, 5)
    assert [each.line for each in seen] == [3, 4, 5, 6, 7]
    assert [str(each)[:40] for each in seen] == [
        "line 3: ' bob' is not a member's id: 1 t",
        "line 4: '' is not a member's id: 1 to 12",
        "line 5: '\\udcff' is not UTF-8",
        f"line 6: '{'x' * 31}",
        "line 7: 1 fields, and there are 2 column",
    ]


@pytest.mark.parametrize("ids", [["ann", "bob"], [11, 12]])
def test_parquet_holds_members_as_texts_or_numbers(tmp_path: Path, ids: list[str] | list[int]) -> None:
    path = tmp_path / "members.parquet"
    parquet.write_table(pa.table({"other": [1, 2], "member_id": ids}), path)
    assert read(path) == list(map(str, ids))
    parquet.write_table(pa.table({"member_id": ["ann", None]}), path)
    (good, bad) = read(path)
    assert (good, isinstance(bad, BadLine) and bad.line) == ("ann", 2)


class Register:
    """Gives numbers in memory, and remembers its batches."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.batches: list[int] = []

    async def give(self, member_ids: Collection[str]) -> Mapping[str, int]:
        self.batches.append(len(member_ids))
        return {each: self.numbers.setdefault(each, len(self.numbers)) for each in member_ids}


async def test_members_are_numbered_in_batches_and_each_counts_once() -> None:
    register = Register()
    members = [f"m{each % (2 * BATCH + 5)}" for each in range(4 * BATCH + 10)]
    ticks: list[None] = []
    numbers = await number(members, register.give, Lines(len(members), 0), lambda: ticks.append(None))
    assert numbers == Members(range(2 * BATCH + 5))
    assert max(register.batches) == BATCH
    assert len(ticks) == 4


async def test_bad_lines_are_left_out_and_a_file_that_changed_is_refused() -> None:
    members: list[str | BadLine] = ["ann", BadLine(3, "bad"), "bob"]
    assert len(await number(members, Register().give, Lines(3, 1), lambda: None)) == 2
    for checked in (Lines(3, 0), Lines(2, 1), Lines(4, 1)):
        with pytest.raises(Refused, match="the file was changed while it was read"):
            await number(members, Register().give, checked, lambda: None)
