"""A daemon outlives its starter, and its pid file never leads to anyone else."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from localstack.daemon import Daemon, stop
from tests.support.paths import ROOT

_SLEEPER = "import time; print('started', flush=True); time.sleep(60)"
_STARTER = """
import sys
from pathlib import Path
from tests.support.paths import ROOT
from localstack.daemon import Daemon
home, *command = sys.argv[1:]
Daemon("sleeper", Path(home)).start(command)
"""


@pytest.fixture
def daemon(tmp_path: Path) -> Daemon:
    return Daemon("sleeper", tmp_path)


def _run(daemon: Daemon, *arguments: str, program: str = _SLEEPER) -> psutil.Process:
    """Start it from a process that is gone when this returns."""
    sleeper = [sys.executable, "-c", program, *arguments]
    starting = [sys.executable, "-c", _STARTER, str(daemon.home), *sleeper]
    subprocess.run(starting, check=True, cwd=ROOT)  # noqa: S603  # the text above
    process = psutil.Process(int((daemon.home / "pid").read_text()))
    deadline = time.monotonic() + 20
    while "started" not in daemon.log_tail():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_it_is_found_by_another_than_its_starter_and_stopped(daemon: Daemon) -> None:
    process = _run(daemon, str(daemon.home))
    assert daemon.process() == process
    stop([daemon])
    assert not _lives(process)
    assert daemon.process() is None


def test_one_whose_command_line_is_gone_is_waited_for_all_the_same(daemon: Daemon) -> None:
    """A process that ends has no command line any more while it still holds its ports."""
    slow_to_end = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: os.execv("/bin/sleep", ["sleep", "0.5"]))
print("started", flush=True)
time.sleep(60)
"""
    process = _run(daemon, str(daemon.home), program=slow_to_end)
    stop([daemon])
    assert not _lives(process)


@pytest.mark.long
def test_one_that_does_not_name_the_home_is_left_alone(daemon: Daemon) -> None:
    """After a restart of the machine the number may be another process'."""
    stranger = _run(daemon)
    assert daemon.process() is None
    stop([daemon])
    assert _lives(stranger)
    stranger.kill()


@pytest.mark.parametrize("written", ["", "garbled", "999999999"])
def test_a_pid_file_that_means_nothing_is_no_process(daemon: Daemon, written: str) -> None:
    (daemon.home / "pid").write_text(written)
    assert daemon.process() is None
    stop([daemon])
    assert not (daemon.home / "pid").exists()


@pytest.mark.filterwarnings("ignore:.*Popen:pytest.PytestUnraisableExceptionWarning")  # it outlives its starter
def test_one_that_is_still_being_loaded_is_waited_for(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process has no command line yet, and is recognised by it only later."""
    looks, real = [0], psutil.Process.cmdline

    def cmdline(process: psutil.Process) -> list[str]:
        looks[0] += 1
        return [] if looks[0] < 4 else real(process)

    monkeypatch.setattr(psutil.Process, "cmdline", cmdline)
    daemon.start([sys.executable, "-c", _SLEEPER, str(daemon.home)])
    assert looks[0] >= 4
    assert daemon.process() is not None
    stop([daemon])
