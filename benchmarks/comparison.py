"""Two revisions by the tables that their benchmarks printed, round by round. Pure."""

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from benchmarks.ratio import Ratio, ratio_of
from benchmarks.report import Figure, table

IN_THE_RUN: Final = ", in the same run"
HEADER: Final = ("measurement", "before", "since", "since / before", "beyond noise", "wanted", "reached")

_NUMBER: Final = re.compile(r"(?<![\w.,])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_CELLS: Final = 5  # of a row that a benchmark prints
_FIRST: Final = "measurement"


class Key(NamedTuple):
    """What makes a row the same in two tables: its name but for the numbers, and which one of that name it is."""

    name: str
    nth: int


class Cell(NamedTuple):
    """A figure, in the words of the benchmark, and the name of its row."""

    name: str
    text: str

    @property
    def numbers(self) -> list[float]:
        return [float(number.replace(",", "")) for number in _NUMBER.findall(self.text)]

    def with_numbers(self, numbers: Iterable[float]) -> str:
        """The text with others in the place of its numbers, to as many decimals."""
        each = iter(numbers)
        return _NUMBER.sub(lambda number: f"{next(each):,.{len(number[0].partition('.')[2])}f}", self.text)


Round: TypeAlias = Mapping[Key, Cell]


class Row(NamedTuple):
    """A measurement in both revisions: the medians, and a ratio for each number in them. There is no ratio where the
    measurement is in one revision alone or in other words, or a number was 0.
    """

    name: str
    before: str
    since: str
    ratios: Sequence[Ratio] = ()
    most: float | None = None

    @property
    def reached(self) -> bool | None:
        """Whether the first ratio is at most the one wanted; None where none is wanted."""
        if self.most is None:
            return None
        return bool(self.ratios) and self.ratios[0].median <= self.most


def read_table(printed: str) -> list[Figure]:
    """The rows of the table that a benchmark printed, without their goals."""
    rows = [
        [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
        for line in printed.splitlines()
        if line.startswith("| ")
    ]
    return [Figure(row[0], row[1], row[2]) for row in rows if len(row) == _CELLS and row[0] != _FIRST]


def compare(
    before: Sequence[Sequence[Figure]], since: Sequence[Sequence[Figure]], wanted: Mapping[str, float]
) -> list[Row]:
    """The rows of both, in the order of the newer; then those of the older alone. `wanted` has the most that the ratio
    of a row may be, by the row's name.
    """
    old, new = ([dict(_cells(figures)) for figures in rounds] for rounds in (before, since))
    rows = (_row([each.get(key) for each in old], [each.get(key) for each in new]) for key in _keys(new, old))
    return [row._replace(most=wanted.get(row.name)) for row in rows]


def markdown(rows: Sequence[Row]) -> str:
    return table([HEADER, *(_shown(row) for row in rows)])


def _cells(figures: Iterable[Figure]) -> Iterator[tuple[Key, Cell]]:
    seen: Counter[str] = Counter()
    for figure in figures:
        for cell in (Cell(figure.name, figure.value), Cell(figure.name + IN_THE_RUN, figure.ratio)):
            name = _without_numbers(cell.name)
            if cell.text:
                yield Key(name, seen[name]), cell
            seen[name] += 1


def _keys(*revisions: Sequence[Round]) -> Iterable[Key]:
    """The keys of all, each once, in the order of the first that has them."""
    return dict.fromkeys(key for rounds in revisions for cells in rounds for key in cells)


def _row(before: Sequence[Cell | None], since: Sequence[Cell | None]) -> Row:
    """The row of a key, from its cell in each round, where there is one."""
    pairs = [(old, new) for old, new in zip(before, since, strict=True) if old and new and _same_words(old, new)]
    if not pairs:
        old, new = (next(filter(None, cells), None) for cells in (before, since))
        return Row((new or old or Cell("", "")).name, old.text if old else "", new.text if new else "")
    old_numbers, new_numbers = (
        list(zip(*(cell.numbers for cell in cells), strict=True)) for cells in zip(*pairs, strict=True)
    )
    ratios = map(ratio_of, old_numbers, new_numbers)
    old, new = pairs[-1]
    return Row(
        new.name,
        old.with_numbers(map(statistics.median, old_numbers)),
        new.with_numbers(map(statistics.median, new_numbers)),
        [ratio for ratio in ratios if ratio is not None],
    )


def _same_words(one: Cell, other: Cell) -> bool:
    return _without_numbers(one.text) == _without_numbers(other.text)


def _without_numbers(text: str) -> str:
    return _NUMBER.sub("#", text)


def _shown(row: Row) -> Sequence[str]:
    beyond = [ratio.beyond_noise for ratio in row.ratios if ratio.beyond_noise is not None]
    return (
        row.name,
        row.before,
        row.since,
        ", ".join(map(str, row.ratios)),
        _told(any(beyond) if beyond else None),
        "" if row.most is None else f"<= {row.most:.2f}",
        "**no**" if row.reached is False else _told(row.reached),
    )


def _told(verdict: bool | None) -> str:  # noqa: FBT001  # a verdict is all that it is about
    return "" if verdict is None else "yes" if verdict else "no"
