"""The figures that a benchmark reports, and their table."""

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple


class Figure(NamedTuple):
    """One row of the table: the measurement, its value, the value to compare with, and the goal."""

    name: str
    value: str
    ratio: str = ""
    wanted: str = ""
    reached: bool | None = None
    # The goal holds on any machine and at any size: it is a ratio of the same run, or that nothing is lost.
    anywhere: bool = False


def judged_anywhere(figures: Iterable[Figure]) -> list[Figure]:
    """The same figures, without a verdict where the goal depends on the machine."""
    return [figure if figure.anywhere else figure._replace(wanted="", reached=None) for figure in figures]


def rate(per_second: float, unit: str) -> str:
    return f"{per_second:,.0f} {unit}/s"


def markdown(figures: Sequence[Figure]) -> str:
    rows = [("measurement", "figure", "ratio in the same run", "wanted", "reached")]
    rows += [(f.name, f.value, f.ratio, f.wanted, verdict(f)) for f in figures]
    return table(rows)


def verdict(figure: Figure) -> str:
    return "" if figure.reached is None else "yes" if figure.reached else "**no**"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; the first row is its head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def machine() -> str:
    return f"{os.cpu_count()} cores, {_processor()}, Python {platform.python_version()}, {platform.system()}"


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as info:
            return next(line.partition(":")[2].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
