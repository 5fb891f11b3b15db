"""An older revision against this tree, in one run: they are measured in turns, each part by the revision's own
benchmarks, but for `cost`, which drives both from outside.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import uvloop

from abacus.core.errors import AbacusError, Unavailable
from benchmarks import item_cost
from benchmarks.comparison import compare, markdown, read_table
from benchmarks.ratio import FEWEST
from benchmarks.report import Figure, machine
from benchmarks.revision import THIS, Tree, described, laid_out, other_packages

COST: Final = "cost"
ROUNDS: Final = FEWEST
_MEASURED: Final = (0, 1)  # the exit codes of benchmarks that printed all figures


class Trees(NamedTuple):
    """The revision's tree, and this one."""

    before: Tree
    since: Tree


class Sides(NamedTuple):
    """The figures of the rounds so far."""

    before: list[Sequence[Figure]]
    since: list[Sequence[Figure]]


def measure(revision: str, parts: Sequence[str], rounds: int, sizes: Sequence[str], *, short: bool) -> int:
    """`measure_trees` of the revision and this tree. Raises `Refused` when the revision does not run here."""
    with laid_out(revision) as before:
        print(f"Before is {described(revision)}; since is this tree.")
        return measure_trees(Trees(before, THIS), parts, rounds, sizes, short=short)


def measure_trees(trees: Trees, parts: Sequence[str], rounds: int, sizes: Sequence[str], *, short: bool) -> int:
    """Print the table of each part. Return 2 if one could not be measured, else 1 where a ratio is larger than wanted.
    `sizes` are the arguments to pass on to the benchmarks of both.
    """
    reached = measured = True
    print(f"{_packages(trees)}\n", flush=True)
    for part in parts:
        sides = Sides([], [])
        try:
            for number in range(rounds):
                print(f"measuring {part}, round {number + 1} of {rounds} …", file=sys.stderr, flush=True)
                _measure_round(sides, trees, part, sizes, short=short)
        except AbacusError as error:  # the other parts may not need what is missing
            print(f"bench: {part}: {error}", file=sys.stderr)
            measured = False
        finally:  # what was measured before a failure took its time
            rows = compare(*sides, item_cost.WANTED if part == COST and not short else {})
            print(f"{markdown(rows)}\n\nMedians of {len(sides.since)} rounds in turns.\n", flush=True)
        reached &= all(row.reached is not False for row in rows)
    print(f"On: {machine()}.")
    return 2 if not measured else 0 if reached else 1


def _measure_round(sides: Sides, trees: Trees, part: str, sizes: Sequence[str], *, short: bool) -> None:
    """Add a round of both; every other one begins with this tree."""
    order = trees if len(sides.since) % 2 == 0 else trees[::-1]
    figures = dict(zip(order, _figures(part, order, sizes, short=short), strict=True))
    sides.before.append(figures[trees.before])
    sides.since.append(figures[trees.since])


def _figures(part: str, order: Sequence[Tree], sizes: Sequence[str], *, short: bool) -> Sequence[Sequence[Figure]]:
    """The figures of each tree, measured one after the other, or in turns."""
    if part != COST:
        return [_printed(tree, part, sizes) for tree in order]
    with tempfile.TemporaryDirectory(prefix="abacus-bench-") as directory:
        return uvloop.run(item_cost.measure_round(Path(directory), order, short=short))


def _printed(tree: Tree, part: str, sizes: Sequence[str]) -> list[Figure]:
    """Run a tree's benchmark and read its table. Raises `Unavailable` when it could not measure."""
    process = subprocess.Popen(  # noqa: S603  # our own
        [sys.executable, "-m", "benchmarks", "--only", part, *sizes],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tree.path,
        env=tree.environment(),
        start_new_session=True,  # we tell it to end, once, and it removes what it made
    )
    try:
        printed, _ = process.communicate()
    finally:
        process.terminate()
        process.wait()
    if process.returncode not in _MEASURED or not (figures := read_table(printed)):
        raise Unavailable(f"the benchmark of {tree.path}", f"it ended with code {process.returncode}")
    return figures


def _packages(trees: Trees) -> str:
    if not (others := other_packages(*trees)):
        return "Both lock the same packages."
    return f"Both run with this tree's packages, though the locks differ: {', '.join(others)}."
