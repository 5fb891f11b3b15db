"""A child says when it is ready, tells why it is not, and ends when its parent does."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.embedded.child import Child

_HEAD = "import sys, time\nfrom abacus.platform.embedded.lifeline import Lifeline\n"
_SERVES = (
    f"{_HEAD}print('noise')\nlife = Lifeline()\nlife.announce('here:' + sys.argv[1])\nprint('later')\nlife.hold()\n"
)
_HANGS = f"{_HEAD}Lifeline().hold()\n"
_IGNORES_EVERYTHING = f"{_HEAD}Lifeline().announce('here')\ntime.sleep(3600)\n"
_BREAKS = "raise SystemExit('no such luck')\n"


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a module that a child can import."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "abacus_test_child.py"


def _child(source: Path, text: str, *, start_seconds: float = 20.0, stop_seconds: float = 5.0) -> Child:
    source.write_text(text)
    log = source.with_name("child.log")
    return Child("X", source.stem, ["8080"], log, start_seconds=start_seconds, stop_seconds=stop_seconds)


async def test_comes_back_with_the_address_and_logs_the_rest(child: Path) -> None:
    running = _child(child, _SERVES)
    assert await running.start() == "here:8080"
    pid = running.pid
    assert pid is not None
    await running.stop()
    assert "later" in child.with_name("child.log").read_text()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_keeps_the_log_of_the_start_before(child: Path) -> None:
    running = _child(child, _SERVES)
    for _ in range(2):
        await running.start()
        await running.stop()
    assert "later" in child.with_name("child.log.previous").read_text()


async def test_an_interrupt_at_the_terminal_is_for_the_parent(child: Path) -> None:
    running = _child(child, _SERVES)
    await running.start()
    assert running.pid is not None
    assert os.getsid(running.pid) == running.pid
    os.kill(running.pid, signal.SIGINT)
    await asyncio.sleep(0.1)
    assert running.pid is not None
    await running.stop()


@pytest.mark.parametrize(
    ("text", "start_seconds", "complaint"),
    [
        pytest.param(_BREAKS, 20.0, r"ended early \(exit code 1\).*no such luck", id="ends early"),
        pytest.param(_HANGS, 0.5, "not ready after 0.5 s", id="is never ready"),
    ],
)
async def test_one_that_does_not_start_says_why(child: Path, text: str, start_seconds: float, complaint: str) -> None:
    running = _child(child, text, start_seconds=start_seconds)
    with pytest.raises(Unavailable, match=f"(?s)embedded X unavailable: {complaint}"):
        await running.start()
    assert running.pid is None


async def test_one_that_does_not_end_is_ended(child: Path) -> None:
    running = _child(child, _IGNORES_EVERYTHING, stop_seconds=0.2)
    await running.start()
    pid = running.pid
    assert pid is not None
    await running.stop()
    assert running.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_cancelled_start_leaves_nothing(child: Path) -> None:
    running = _child(child, _HANGS)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(running.start(), 1)
    await running.stop()
    assert running.pid is None
