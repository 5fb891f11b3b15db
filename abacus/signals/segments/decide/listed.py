"""Members as people paste them or bring them in a file: one on each line, or the column `member_id` of CSV. Pure."""

import csv
from collections.abc import Iterator
from typing import Final, NamedTuple

from abacus.core.csv_text import meant
from abacus.core.members import fault_of_member
from abacus.signals.segments.types import COLUMN, BadLine

_MARK: Final = "\ufeff"  # before the first line of a file that a spreadsheet has written


class Listed(NamedTuple):
    """Each member once, in the order of the list, how many lines name one that stands above, and the bad lines."""

    members: tuple[str, ...]
    again: int
    bad: tuple[BadLine, ...]


def listed(text: str) -> Listed:
    """Empty lines are passed over, and spaces around a member."""
    members, again, bad = dict[str, None](), 0, []
    for each in _lines(text.removeprefix(_MARK)):
        if isinstance(each, BadLine):
            bad.append(each)
            continue
        number, member_id = each
        if (problem := fault_of_member(member_id)) is not None:
            bad.append(BadLine(number, problem))
        elif member_id in members:
            again += 1
        else:
            members[member_id] = None
    return Listed(tuple(members), again, tuple(bad))


def _lines(text: str) -> Iterator[tuple[int, str] | BadLine]:
    lines = text.split("\n")
    names = [each.strip() for each in next(csv.reader(lines[:1]), [])]
    if COLUMN not in names:
        if len(names) > 1:
            yield BadLine(1, f"several columns, and none of them is called {COLUMN}")
            return
        yield from ((number, line.strip()) for number, line in enumerate(lines, 1) if line.strip())
        return
    place = names.index(COLUMN)
    rows = csv.reader(lines[1:], strict=True)
    while True:
        number = rows.line_num + 2
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield BadLine(number, str(error))
            continue
        if len(row) == len(names):
            yield number, meant(row[place]).strip()
        elif any(each.strip() for each in row):
            yield BadLine(number, f"{len(row)} fields, and there are {len(names)} columns")
