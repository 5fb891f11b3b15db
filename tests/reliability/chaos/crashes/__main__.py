"""`make crashes`: workers die on each side of every call beyond their process; others finish their work, and nothing is
wrong.
"""

import argparse
import asyncio
import json
import logging
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.reliability.chaos.crashes.crossing import Stage, crossing_of, stage_of
from tests.reliability.chaos.crashes.run import (
    VISITS,
    VISITS_OF_A_SAMPLE,
    Crash,
    Fate,
    Unfit,
    Verdict,
    Yard,
    crashes_of,
    sample_of,
    yard,
)
from tests.reliability.chaos.crashes.work import Work
from tests.reliability.chaos.crashes.works import WORKS

_FAULTS: Final = 1
_REFUSED: Final = 2
_ALL: Final = slice(None)
_errors: Final = Console(stderr=True, soft_wrap=True, highlight=False)

Visits = Mapping[type[Work], frozenset[str]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.chaos.crashes", description=__doc__)
    parser.add_argument("--list", action="store_true", help="visit the points and name them; kill nobody")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="crashes whose worker, work or point holds this"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="so many of the crashes, drawn by --seed")
    parser.add_argument("--seed", type=int, default=None, help="of the sample; drawn and printed without it")
    parser.add_argument("--part", type=_part, metavar="N/OF", help="of the works, every OF-th from the N-th on")
    parser.add_argument("--lanes", type=int, default=6 * (os.cpu_count() or 1), help="how many at a time")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    options = parser.parse_args()
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # that a topic is not there yet is expected
    started = time.monotonic()
    seed = random.randrange(2**32) if options.seed is None else options.seed
    try:
        sample = 0 if options.list else options.sample
        works = _concerned(options.only or (), options.part or _ALL)
        visits, verdicts = asyncio.run(_run(works, options.only, sample, seed, max(1, options.lanes)))
    except Unfit as error:
        _errors.print(f"without a crash: {error}", markup=False)
        return _REFUSED
    if options.list:
        _list(visits, as_json=options.json)
        return 0
    if not verdicts:
        _errors.print("no crash has such a name; --list names the points", markup=False)
        return _REFUSED
    seconds = round(time.monotonic() - started)
    if options.json:
        print(json.dumps(_document(visits, verdicts, seconds=seconds, seed=seed)))
    else:
        _show(visits, verdicts)
        others = [verdict for verdict in verdicts if verdict.fate is not Fate.HELD]
        for verdict in others:
            print(_told(verdict))
        held = len(verdicts) - len(others)
        sampled = f", a sample by seed {seed}" if options.sample else ""
        print(f"\n{held} of {len(verdicts)} crashes held in {seconds} s{sampled}")
    return _FAULTS if any(verdict.fate is not Fate.HELD for verdict in verdicts) else 0


def _part(said: str) -> slice:
    try:
        number, of = map(int, said.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{said!r} is no part such as 2/5") from None
    if not 1 <= number <= of <= len(WORKS):
        raise argparse.ArgumentTypeError(f"{said!r} is no part of {len(WORKS)} works")
    return slice(number - 1, None, of)


async def _run(
    works: Sequence[type[Work]], only: Sequence[str] | None, sample: int | None, seed: int, lanes: int
) -> tuple[Visits, Sequence[Verdict]]:
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_errors, transient=True) as progress:
        async with yard(lanes) as opened:
            recording = progress.add_task("visiting points", total=None)
            visits = await opened.visits(works, VISITS if sample is None else VISITS_OF_A_SAMPLE)
            progress.remove_task(recording)
            crashes = [crash for crash in crashes_of(visits) if not only or any(part in _words(crash) for part in only)]
            return visits, await _crash(opened, sample_of(crashes, sample, seed), progress)


def _concerned(only: Sequence[str], part: slice) -> Sequence[type[Work]]:
    """The works that these texts name; all works when one of the texts names none, because it may name a point."""
    named = [[work for work in WORKS if text in _words(Crash(work, ""))] for text in only]
    works = [work for work in WORKS if any(work in each for each in named)] if all(named) and named else WORKS
    return works[part]


async def _crash(opened: Yard, crashes: Sequence[Crash], progress: Progress) -> Sequence[Verdict]:
    task = progress.add_task("crashing", total=len(crashes))

    def tell(verdict: Verdict) -> None:
        progress.advance(task)
        if verdict.fate is not Fate.HELD:
            progress.console.print(_told(verdict), markup=False)

    return await opened.crash(crashes, tell)


def _told(verdict: Verdict) -> str:
    return f"{verdict.fate}: {_words(verdict.crash)}: {'; '.join(verdict.faults)}"


def _words(crash: Crash) -> str:
    stage = f" {stage_of(crossing_of(crash.point))}" if crash.point else ""
    return f"{crash.work.worker}, {crash.work.name}:{stage} {crash.point}"


def _show(visits: Visits, verdicts: Sequence[Verdict]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table("stage", "points", "crashes", "held")
    for row in _by_stage(visits, verdicts):
        table.add_row(*map(str, row.values()))
    console.print(table)


def _by_stage(visits: Visits, verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    visited = frozenset[str]().union(*visits.values())
    rows: list[dict[str, Any]] = []
    for stage in Stage:
        points = {point for point in visited if stage_of(crossing_of(point)) is stage}
        tried = [verdict for verdict in verdicts if verdict.crash.point in points]
        rows.append(
            {
                "stage": str(stage),
                "points": len(points),
                "crashes": len(tried),
                "held": sum(verdict.fate is Fate.HELD for verdict in tried),
            }
        )
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key != "stage"}
    return [*rows, {"stage": "all", **total}]


def _document(visits: Visits, verdicts: Sequence[Verdict], **more: int) -> dict[str, Any]:
    return {
        **more,
        "stages": _by_stage(visits, verdicts),
        "crashes": [
            {
                "worker": verdict.crash.work.worker,
                "work": verdict.crash.work.name,
                "point": verdict.crash.point,
                "fate": str(verdict.fate),
                "faults": list(verdict.faults),
                "seconds": round(verdict.seconds, 1),
            }
            for verdict in verdicts
        ],
    }


def _list(visits: Visits, *, as_json: bool) -> None:
    points = [
        {
            "worker": crash.work.worker,
            "work": crash.work.name,
            "stage": stage_of(crossing_of(crash.point)),
            "point": crash.point,
        }
        for crash in crashes_of(visits)
    ]
    if as_json:
        print(json.dumps({"points": points}))
        return
    table = Table("worker", "work", "stage", "point")
    for each in points:
        table.add_row(*each.values())
    Console(width=None if sys.stdout.isatty() else 180).print(table)


if __name__ == "__main__":
    sys.exit(main())
