"""The pages of docs/develop/benchmarks: their tables are made from the runs that are kept beside them.

`make bench ARGS="--only posting --write"` keeps what it measured as `runs/posting.json`, and writes the table anew on
the page that shows this run. `python -m benchmarks.pages` writes all tables; with `--check` it says whether they are
right.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.report import Figure, verdict

FOLDER: Final = Path(__file__).parents[1] / "docs" / "develop" / "benchmarks"
HEAD: Final = ("measurement", "figure", "ratio in the same run", "wanted", "reached")

# A page shows a run between two comments, and whatever stands between them is written anew.
_SHOWN: Final = re.compile(r"^<!-- run: ([\w-]+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


class Run(NamedTuple):
    """What one measurement printed: how it was asked for, when and where it ran, and its rows."""

    asked: str
    taken: str
    machine: str
    rows: Sequence[Sequence[str]]


def run_of(asked: str, taken: str, machine: str, figures: Sequence[Figure]) -> Run:
    rows = [(f.name, f.value, f.ratio, f.wanted, verdict(f)) for f in figures]
    return Run(asked, taken, machine, rows)


def write_run(folder: Path, part: str, run: Run) -> None:
    """One row a line, so that a difference of two runs can be read."""
    about = json.dumps({"asked": run.asked, "taken": run.taken, "machine": run.machine}, ensure_ascii=False)
    rows = ",\n  ".join(json.dumps(list(row), ensure_ascii=False) for row in run.rows)
    text = f'{about[:-1]}, "rows": [\n  {rows}\n]}}\n'
    (folder / "runs" / f"{part}.json").write_text(text, encoding="utf-8")


def read_runs(folder: Path) -> Mapping[str, Run]:
    paths = sorted((folder / "runs").glob("*.json"))
    return {path.stem: Run(**json.loads(path.read_text(encoding="utf-8"))) for path in paths}


def shown_on(page: str) -> list[str]:
    """The runs that a page shows, in its order."""
    return _SHOWN.findall(page)


def with_tables(page: str, runs: Mapping[str, Run]) -> str:
    """The page with the table of each run that it shows, as the run has it."""
    return _SHOWN.sub(lambda match: "\n".join(_block(match[1], runs[match[1]])), page)


def _block(part: str, run: Run) -> Iterator[str]:
    yield f"<!-- run: {part} -->"
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{'---|' * len(HEAD)}"
    for row in run.rows:
        yield "| " + " | ".join(row) + " |"
    yield ""
    yield f'`make bench ARGS="{run.asked}"`'
    yield f"on {run.taken}, {run.machine}."
    yield "<!-- end -->"


def write_pages(folder: Path) -> list[Path]:
    """The pages that changed."""
    runs = read_runs(folder)
    changed = [
        (path, right)
        for path in sorted(folder.glob("*.md"))
        if (right := with_tables(page := path.read_text(encoding="utf-8"), runs)) != page
    ]
    for path, right in changed:
        path.write_text(right, encoding="utf-8")
    return [path for path, _ in changed]


def main() -> int:
    if "--check" in sys.argv[1:]:
        runs = read_runs(FOLDER)
        pages = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")]
        return int(any(with_tables(page, runs) != page for page in pages))
    write_pages(FOLDER)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
