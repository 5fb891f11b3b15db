"""A file of codes, one a line, or in a column of a CSV. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from abacus.core.codes import MOST_LENGTH, is_ours
from abacus.core.errors import Refused
from abacus.engage.offers.decide.single_code import LEAST_LENGTH, readable

_HEADINGS: Final = frozenset({"code", "codes"})


def codes_of(rows: Iterable[Sequence[str]], *, is_checked: bool) -> Iterator[str]:
    """The codes of the column `code`, or of the first one, in the form in which they are compared. Raises `Refused`,
    which names the line and no code.
    """
    column = 0
    for number, row in enumerate(rows, 1):
        if number == 1 and (heading := _heading(row)) is not None:
            column = heading
        elif any(each.strip() for each in row):
            yield _code(row[column] if column < len(row) else "", number, is_checked=is_checked)


def _heading(row: Sequence[str]) -> int | None:
    """The place of the column with the codes, where the row is a heading."""
    return next((place for place, each in enumerate(row) if each.strip().lower() in _HEADINGS), None)


def _code(text: str, number: int, *, is_checked: bool) -> str:
    code = readable(text)
    if code is None:
        raise Refused(f"line {number}: no code; a code has {LEAST_LENGTH} to {MOST_LENGTH} letters and digits")
    if is_checked and not is_ours(code):
        raise Refused(f"line {number}: the check character is wrong; a code that Abacus made was written down wrong")
    return code
