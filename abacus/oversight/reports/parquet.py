"""A sheet as a Parquet file."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from abacus.core.errors import Refused
from abacus.oversight.reports.decide.sheet import Sheet

_DIGITS: Final = 38  # of a decimal, the most that the format has


def write_parquet(sheet: Sheet, file: Path) -> None:
    """Write the sheet. Raises `Refused` if the file cannot be written."""
    import pyarrow as pa  # noqa: PLC0415  # takes a third of a second, which every other command would wait for
    from pyarrow import parquet  # noqa: PLC0415  # as above

    types: dict[type, Any] = {str: pa.string(), int: pa.int64(), date: pa.date32()}
    columns = list(zip(*sheet.rows, strict=True)) if sheet.rows else [()] * len(sheet.columns)
    fields = [
        (column.name, pa.decimal128(_DIGITS, _places(cells)) if column.type is Decimal else types[column.type])
        for column, cells in zip(sheet.columns, columns, strict=True)
    ]
    arrays = [pa.array(cells, kind) for cells, (_, kind) in zip(columns, fields, strict=True)]
    try:
        parquet.write_table(pa.table(arrays, schema=pa.schema(fields)), str(file))
    except OSError as error:
        raise Refused(f"--parquet: {' '.join(str(error).split())}") from None


def _places(cells: tuple[object, ...]) -> int:
    return max((-int(cell.as_tuple().exponent) for cell in cells if isinstance(cell, Decimal)), default=0)
