"""Two revisions in turns: trees with a benchmark that only writes down that it ran, and prints."""

from pathlib import Path

import pytest

from benchmarks.against_revision import Trees, measure_trees
from benchmarks.revision import LOCK, Tree

BENCHMARK = """
import pathlib, sys
log = pathlib.Path(__file__).parents[2] / "log"
with log.open("a") as lines:
    print("{name}", *sys.argv[1:], file=lines)
if "broken" in sys.argv:
    sys.exit(2)
print("| measurement | figure | ratio in the same run | wanted | reached |")
print("|---|---|---|---|---|")
print("| posting | {value} awards/s | | >= 5/s | yes |")
"""


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    """Each notes in `log` beside it what ran."""
    return Trees(*(_tree(tmp_path / name, name, value) for name, value in (("before", 100), ("since", 110))))


def _tree(path: Path, name: str, value: int) -> Tree:
    package = path / "benchmarks"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(BENCHMARK.format(name=name, value=value), encoding="utf-8")
    (path / LOCK).write_text(f"alembic==1.{value}.0 \\\n", encoding="utf-8")
    return Tree(path)


def test_each_round_measures_both_and_every_other_one_begins_with_this_tree(
    trees: Trees, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure_trees(trees, ["posting"], 3, ["--accounts", "50"], short=False) == 0
    order = ["before", "since", "since", "before", "before", "since"]
    assert (tmp_path / "log").read_text(encoding="utf-8").splitlines() == [
        f"{name} --only posting --accounts 50" for name in order
    ]
    shown = capsys.readouterr().out
    assert [cell.strip() for cell in shown.splitlines()[4].split("|")[1:5]] == [
        "posting",
        "100 awards/s",
        "110 awards/s",
        "1.10 (1.10 to 1.10)",
    ]
    assert "Medians of 3 rounds" in shown


def test_a_part_that_cannot_be_measured_does_not_keep_the_next_from_it(
    trees: Trees, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure_trees(trees, ["broken", "posting"], 1, [], short=False) == 2
    told = capsys.readouterr()
    assert "bench: broken: the benchmark of" in told.err
    assert "1.10 (1.10 to 1.10)" in told.out
    assert [line.split()[-1] for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()] == [
        "broken",
        *["posting"] * 2,
    ]


def test_other_packages_are_said(trees: Trees, capsys: pytest.CaptureFixture[str]) -> None:
    measure_trees(trees, [], 1, [], short=False)
    assert "though the locks differ: alembic==1.100.0, alembic==1.110.0." in capsys.readouterr().out
