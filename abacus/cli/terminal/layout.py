"""How rows are laid out for people: a table where every cell fits in its line, else a block of lines for each row."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len

# Characters that a terminal obeys, or that change the order or the lines of a text, or that show as nothing. The line
# feed is left out: it separates lines of our own.
_UNSEEN: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"
)
_AROUND: Final = 3  # the border of a column and a space on either side
_INDENT: Final = "  "


def visible(text: str) -> str:
    """The text, with a code in the place of each character that a person would not see or that a terminal would
    obey.
    """
    return _UNSEEN.sub(_escaped, text)


def fits(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a table of these cells is no wider than `width` characters."""
    widest = (max(_width(cell) for cell in cells) for cells in zip(columns, *rows, strict=True))
    return sum(widest) + _AROUND * len(columns) + 1 <= width


def blocks(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as blocks of lines `name: value`, an empty line between two of them. Empty cells are left out; the
    further lines of a cell are indented.
    """
    for number, row in enumerate(rows):
        if number:
            yield ""
        for name, cell in zip(columns, row, strict=True):
            first, *further = cell.split("\n")
            if cell:
                yield f"{name}: {first}" if name else first
                yield from (_INDENT + line for line in further)


def _width(cell: str) -> int:
    return max(cell_len(visible(line)) for line in cell.split("\n"))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004  # the last of one byte
