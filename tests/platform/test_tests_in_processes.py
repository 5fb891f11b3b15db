"""`-n` runs each test once, in one of several processes, and tells of each that fails."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.processes import Shares, stretches

pytestmark = pytest.mark.once

CONFTEST = "from tests.support.processes import in_processes as pytest_configure, pytest_addoption"
GOOD = """
import os, sys, pytest
from pathlib import Path

@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    yield tmp_path_factory.getbasetemp()
    Path(__file__).with_name(f"ended-{os.getpid()}").touch()

@pytest.mark.parametrize("number", range(12))
def test_good(number, kept, tmp_path):
    print("said by", number)
    with Path(__file__).with_name("ran").open("a") as ran:
        ran.write(f"{number} {os.getpid()} {kept}\\n")
"""
BAD = """
import os

def test_bad():
    print("said in vain")
    assert 1 == 2

def test_killed():
    os._exit(3)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", f"--rootdir={folder}", "-c", "/dev/null", "-p", "no:cacheprovider"]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    return subprocess.run(  # noqa: S603  # these very arguments
        [*command, *arguments, str(folder)], env=environment, capture_output=True, text=True, check=False, cwd=folder
    )


def test_each_test_runs_once_and_each_process_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_good.py").write_text(GOOD, encoding="utf-8")
    ended = run(tmp_path, "-n", "3")
    assert (ended.returncode, "12 passed" in ended.stdout) == (0, True), ended.stdout
    rows = [line.split() for line in (tmp_path / "ran").read_text(encoding="utf-8").splitlines()]
    assert sorted(int(number) for number, _, _ in rows) == list(range(12))
    processes = {process for _, process, _ in rows}
    assert len({folder for _, _, folder in rows}) == len(processes)
    assert {each.name for each in tmp_path.glob("ended-*")} == {f"ended-{process}" for process in processes}


def test_a_test_that_fails_or_ends_its_process_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "test_good.py").write_text(GOOD, encoding="utf-8")
    ended = run(tmp_path, "-n", "2")
    assert ended.returncode == 1
    assert "said in vain" in ended.stdout
    assert "the process of this test ended with 3" in ended.stdout
    assert "2 failed" in ended.stdout
    assert "said by" not in ended.stdout


def test_a_run_that_is_to_stop_begins_no_other_test(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "test_more.py").write_text("import time\n" + GOOD + "    time.sleep(0.2)\n", encoding="utf-8")
    ended = run(tmp_path, "-n", "2", "-x", "-k", "not killed")
    assert (ended.returncode, "stopping after 1 failures" in ended.stdout) == (1, True), ended.stdout
    assert "12 passed" not in ended.stdout


def test_who_is_done_takes_half_of_the_longest_that_is_left() -> None:
    shares = Shares(10, 2)
    assert taken(shares, 0, 0, 0, 0, 0, 1) == [0, 1, 2, 3, 4, 5]
    assert taken(shares, 0, 1, 0, 1, 1, 0) == [8, 6, 9, 7, None, None]


def test_what_is_over_belongs_to_the_last() -> None:
    assert stretches(11, 3) == [(0, 3), (3, 6), (6, 11)]
    assert stretches(1, 1) == [(0, 1)]


def test_a_run_that_stops_gives_no_more_tests() -> None:
    shares = Shares(10, 2)
    assert taken(shares, 0) == [0]
    shares.stop()
    assert taken(shares, 0, 1) == [None, None]


def taken(shares: Shares, *processes: int) -> Sequence[int | None]:
    return [shares.take(each) for each in processes]
