"""Files of rows that are small on the disk and huge in memory are refused before they are."""

import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from abacus.core.errors import Refused
from abacus.platform.table_files import Row, open_table


def only(names: Sequence[str]) -> tuple[int, ...]:
    return (names.index("member_id"),)


def repeated(path: Path, text: str, rows: int) -> Path:
    """One text in all rows, as a dictionary of one: nothing large is made for it."""
    indices = pa.array([0]).take(pa.nulls(rows, pa.int64()).fill_null(0))
    column = pa.DictionaryArray.from_arrays(indices.cast(pa.int32()), pa.array([text]))
    return written(path, column)


def written(path: Path, column: Any) -> Path:
    parquet.write_table(pa.table({"member_id": column, "note": pa.nulls(len(column), pa.string())}), path)
    return path


@pytest.mark.long
def test_millions_of_equal_rows_are_refused_before_any_is_read(tmp_path: Path) -> None:
    file = repeated(tmp_path / "members.parquet", "bob", 20_000_000)
    assert file.stat().st_size < 500_000
    with (
        pytest.raises(Refused, match=r"20,000,000 rows in [\d,]+ bytes are the same few over and over"),
        open_table(file, only),
    ):
        pass


@pytest.mark.long
def test_a_large_list_of_different_members_is_read(tmp_path: Path) -> None:
    ids = pa.array([f"member-{number:07}" for number in range(1_200_000)])
    with open_table(written(tmp_path / "members.parquet", ids), only) as rows:
        assert rows.total == 1_200_000
        assert next(iter(rows)) == Row(1, ("member-0000000",))


def test_a_long_text_in_every_row_is_refused_before_it_is_there_as_often(tmp_path: Path) -> None:
    """2 MB in 5,000 rows of a batch would be 10 GB."""
    file = repeated(tmp_path / "members.parquet", "x" * 2_000_000, 5_000)
    assert file.stat().st_size < 1_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open_table(file, only) as rows, pytest.raises(Refused, match="has a text of 2,000,000 bytes"):
        list(rows)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pa.array(["bob", None, "eve", "bob"]), ["bob", "", "eve", "bob"]),
        (pa.array([7, None, 8]), ["7", "", "8"]),
        (pa.array([], pa.string()), []),
        (pa.array([None, None], pa.string()), ["", ""]),
        (pa.array(["bob", "eve"]).dictionary_encode(), ["bob", "eve"]),
        (pa.array(["bob", "eve"], pa.large_string()), ["bob", "eve"]),
    ],
    ids=["texts", "numbers", "nothing", "nulls", "a dictionary", "large texts"],
)
def test_columns_are_read_as_texts(tmp_path: Path, column: Any, texts: list[str]) -> None:
    with open_table(written(tmp_path / "members.parquet", column), only) as rows:
        assert [each.values[0] for each in rows if isinstance(each, Row)] == texts


def test_a_column_of_lists_is_no_column_of_members(tmp_path: Path) -> None:
    file = written(tmp_path / "members.parquet", pa.array([["bob"], ["eve"]]))
    with pytest.raises(Refused, match="the column 'member_id' is list"), open_table(file, only):
        pass
