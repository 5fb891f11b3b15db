"""`python -m benchmarks`: the measurements, and the exit code that judges them."""

import argparse
import re
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

import benchmarks.__main__ as bench
from abacus.core.errors import Unavailable
from benchmarks import against_revision
from benchmarks.pages import read_runs
from benchmarks.report import Figure
from tests.support.paths import ROOT

SLOW = Figure("posting", "5/s", wanted=">= 18,000/s", reached=False)
LOST = Figure("all posted once", "no", wanted="all", reached=False, anywhere=True)
KEPT = LOST._replace(value="yes", reached=True)


@pytest.fixture(autouse=True)
def _no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals of this process stay as they are."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)


@pytest.mark.parametrize(
    ("figures", "code", "short_code"),
    [
        ([KEPT], 0, 0),
        ([KEPT, SLOW], 1, 0),
        ([LOST], 1, 1),
        ([LOST, SLOW], 1, 1),
    ],
)
def test_a_short_run_judges_what_holds_anywhere(
    capsys: pytest.CaptureFixture[str], figures: list[Figure], code: int, short_code: int
) -> None:
    parts: bench.Parts = {"posting": lambda *_: figures}
    assert bench.main(["--only", "posting"], parts) == code
    assert (">= 18,000/s" in capsys.readouterr().out) == (SLOW in figures)
    assert bench.main(["--only", "posting", "--short"], parts) == short_code
    shown = capsys.readouterr().out
    assert ">= 18,000/s" not in shown
    assert ("5/s" in shown) == (SLOW in figures)


def test_what_is_measured_and_at_which_sizes() -> None:
    seen: list[tuple[str, int, float]] = []

    def measure(name: str, directory: Path, chosen: argparse.Namespace) -> list[Figure]:
        assert directory.is_dir()
        seen.append((name, chosen.accounts, chosen.seconds))
        return []

    short = ("calculation", "cost", "throughput", "plain")
    parts = {name: partial(measure, name) for name in (*short, "posting", "scaling", "growth")}
    for arguments, expected in (
        (["--short"], [(name, 100_000, 4) for name in short]),
        (["--short", "--only", "scaling", "--accounts", "500"], [("scaling", 500, 4)]),
        ([], [(name, 1_000_000, 180) for name in (*short, "posting", "scaling")]),
    ):
        seen.clear()
        assert bench.main(arguments, parts) == 0
        assert seen == expected


def test_what_was_measured_before_a_failure_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_: object) -> list[Figure]:
        raise Unavailable("Postgres", "it is away")

    assert bench.main([], {"calculation": lambda *_: [KEPT], "posting": fails}) == 2
    printed = capsys.readouterr()
    assert "all posted once" in printed.out
    assert "Postgres unavailable: it is away" in printed.err


def test_what_cannot_be_measured_here_does_not_keep_the_rest_from_being_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def missing(*_: object) -> list[Figure]:
        raise Unavailable("services", "run `make services`")

    assert bench.main([], {"singly": missing, "demo": lambda *_: [KEPT]}) == 2
    shown = capsys.readouterr()
    assert "bench: singly: services" in shown.err
    assert "all posted once" in shown.out


class Told(NamedTuple):
    """What the comparison was asked for."""

    revision: str
    parts: tuple[str, ...]
    rounds: int
    sizes: tuple[str, ...]
    short: bool


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--against v1", Told("v1", ("cost",), 6, (), short=False)),
        ("--against v1 --rounds 2 --short", Told("v1", ("cost",), 2, ("--short",), short=True)),
        (
            "--only api --accounts 50 --against=v1 --only posting",
            Told("v1", ("api", "posting"), 6, ("--accounts", "50"), short=False),
        ),
    ],
)
def test_what_is_compared_with_an_older_revision(
    monkeypatch: pytest.MonkeyPatch, arguments: str, expected: Told
) -> None:
    seen: list[Told] = []

    def measure(revision: str, parts: Sequence[str], rounds: int, sizes: Sequence[str], *, short: bool) -> int:
        seen.append(Told(revision, tuple(parts), rounds, tuple(sizes), short))
        return 1

    monkeypatch.setattr(against_revision, "measure", measure)
    assert bench.main(arguments.split()) == 1
    assert seen == [expected]


@pytest.mark.parametrize("arguments", ["--against v1 --rounds 0", "--against v1 --acounts 5", "--against"])
def test_a_comparison_that_has_no_meaning_is_refused(arguments: str) -> None:
    with pytest.raises(SystemExit):
        bench.main(arguments.split())


def test_a_revision_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--against", "no-such-revision"]) == 2
    assert "bench: git rev-parse" in capsys.readouterr().err


def test_what_was_measured_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    parts: bench.Parts = {"posting": lambda *_: [KEPT], "calculation": lambda *_: [KEPT]}
    assert bench.main(["--only", "posting", "--write", str(tmp_path)], parts) == 0
    ((part, run),) = read_runs(tmp_path).items()
    assert (part, run.asked, run.rows) == ("posting", "--only posting", [[*KEPT[:4], "yes"]])


@pytest.mark.parametrize("other", [["--short"], ["--against", "v1"]])
def test_only_whole_runs_of_this_tree_are_kept(tmp_path: Path, other: list[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main([*other, "--write", str(tmp_path)], {"posting": lambda *_: [KEPT]})


def test_ci_measures_all_that_is_measured_in_short_but_for_the_plain_way() -> None:
    """In two runs, because faults stand beside one of them. The plain way takes as long as all others together."""
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    measured = [part for line in ci.splitlines() if "make bench" in line for part in re.findall(r"--only (\w+)", line)]
    assert sorted([*measured, "plain"]) == sorted(bench.IN_SHORT)
