"""`make mutants`: one lock, constraint or check of the posting code taken away at a time; a test has to notice."""

import argparse
import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from tests.reliability.mutants.mutant import Mutant
from tests.reliability.mutants.syntax import Lost
from tests.reliability.mutants.table import HANDFUL, MUTANTS
from tests.reliability.mutants.trial import Fate, Unfit, Verdict, try_all

_FAULTS: Final = 1
_REFUSED: Final = 2
_errors: Final = Console(stderr=True, soft_wrap=True, highlight=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.mutants", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="mutants whose name holds this")
    parser.add_argument("--handful", action="store_true", help="a few, of every kind, in about a minute")
    parser.add_argument("--list", action="store_true", help="name them, and try none")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="how many at a time")
    options = parser.parse_args()
    mutants = [each for each in MUTANTS if not options.handful or each.name in HANDFUL]
    mutants = [each for each in mutants if not options.only or any(part in each.name for part in options.only)]
    if not mutants:
        _errors.print("no mutant has such a name; --list names them", markup=False)
        return _REFUSED
    if options.list:
        for mutant in mutants:
            print(f"{mutant.place}: {mutant.name}")
        return 0
    started = time.monotonic()
    try:
        verdicts = _tried(mutants, max(1, options.jobs))
    except (Lost, Unfit) as error:
        _errors.print(str(error), markup=False)
        return _REFUSED
    counts = Counter(verdict.fate for verdict in verdicts)
    if options.json:
        print(json.dumps({**{fate.value: counts[fate] for fate in Fate}, "mutants": list(map(_told, verdicts))}))
    else:
        _show(verdicts)
        print(f"\n{counts[Fate.KILLED]} of {len(verdicts)} mutants killed in {time.monotonic() - started:.0f} s")
    return _FAULTS if counts[Fate.KILLED] < len(verdicts) else 0


def _tried(mutants: Sequence[Mutant], jobs: int) -> list[Verdict]:
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_errors, transient=True) as progress:
        task = progress.add_task("trying mutants", total=len(mutants))

        def tell(verdict: Verdict) -> None:
            progress.advance(task)
            if verdict.fate is not Fate.KILLED:
                progress.console.print(f"{verdict.fate}: {verdict.mutant.name}: {verdict.by}", markup=False)

        return asyncio.run(try_all(mutants, min(jobs, len(mutants)), tell))


def _show(verdicts: Sequence[Verdict]) -> None:
    table = Table("without", "in", "", Column("by", overflow="fold"))
    for mutant, fate, by, _ in verdicts:
        table.add_row(mutant.name, mutant.place, fate if fate is Fate.KILLED else f"[red]{fate.upper()}[/]", _short(by))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _short(test: str) -> str:
    return test.removeprefix("tests/").replace("[", r"\[")


def _told(verdict: Verdict) -> dict[str, str]:
    mutant, fate, by, because = verdict
    return {
        "without": mutant.name,
        "file": mutant.file,
        "within": mutant.within,
        "fate": fate.value,
        "by": by,
        "because": because,
    }


if __name__ == "__main__":
    sys.exit(main())
