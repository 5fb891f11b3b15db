"""CSV as the house writes it, in one place: a spreadsheet that opens it shows what stands there, and runs none of it.

A text that a spreadsheet would take for a formula has an apostrophe before it. Numbers stay numbers, also as text.
Reading takes the apostrophe away again, so that a list of ids that was written comes back as it was.
"""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final, Protocol

_BREAK: Final = "\r\n"
# What begins a formula, in any width, and what spreadsheets take away before they look. A lone sign is none.
_FORMULA: Final = re.compile("'*(\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20].|[\t\r\n])", re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
# A comma or a line break ends a field, and so does what other spreadsheets have in a comma's place.
_QUOTED: Final = re.compile('[,;\t\r\n"|]')


class Writable(Protocol):
    """A text file."""

    def write(self, text: str, /) -> object: ...


class CsvWriter:
    """Writes rows to a file that is open as text, with `newline=""`."""

    def __init__(self, file: Writable) -> None:
        self._file = file

    def row(self, cells: Iterable[object]) -> None:
        self._file.write(_line(cells))

    def rows(self, rows: Iterable[Sequence[object]]) -> None:
        for each in rows:
            self.row(each)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """The rows as one text; the first usually names the columns."""
    return "".join(map(_line, rows))


def shown(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def meant(cell: str) -> str:
    """The text that `shown` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _line(cells: Iterable[object]) -> str:
    texts = list(map(_cell, cells))
    # A lone empty cell would be a line of nothing, which readers pass over.
    return (",".join(texts) if texts != [""] else '""') + _BREAK


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float | Decimal):
        return str(value)
    text = shown(str(value))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
