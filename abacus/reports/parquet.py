"""A sheet as a Parquet file, by DuckDB: with the extra `reports`."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final

from abacus.core.errors import Refused
from abacus.reports.sheet import Sheet

_TYPES: Final = {str: "VARCHAR", int: "BIGINT", date: "DATE"}
_DIGITS: Final = 38  # of a decimal, the most that the format has


def write_parquet(sheet: Sheet, file: Path) -> None:
    """Raises `Refused` where DuckDB is not installed, or the file cannot be written."""
    try:
        import duckdb  # noqa: PLC0415  # an extra that a host without finance leaves out
    except ImportError:
        raise Refused("--parquet needs DuckDB; install abacus[reports]") from None
    columns = list(zip(*sheet.rows, strict=True)) if sheet.rows else [()] * len(sheet.columns)
    arrays = ", ".join(
        f'unnest(?::{_type(column.type, cells)}[]) as "{column.name}"'
        for column, cells in zip(sheet.columns, columns, strict=True)
    )
    target = str(file).replace("'", "''")
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            connection.execute(f"create table sheet as select {arrays}", [list(cells) for cells in columns])
            connection.execute(f"copy sheet to '{target}' (format parquet)")
    except duckdb.IOException as error:
        raise Refused(f"--parquet: {' '.join(str(error).split())}") from None


def _type(kind: type, cells: tuple[object, ...]) -> str:
    if kind is not Decimal:
        return _TYPES[kind]
    places = (-int(cell.as_tuple().exponent) for cell in cells if isinstance(cell, Decimal))
    return f"DECIMAL({_DIGITS}, {max(0, *places, 0)})"
