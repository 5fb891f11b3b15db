"""A clock that is wrong: the computer's, moved by as many seconds as a file says, which may change at any time.

It takes the place of the computer's own under everything that asks that one, as a wrong clock of the machine would.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from abacus.core.clock import SystemClock


def go_by(moved_by: str) -> None:
    """From now on this process goes by the file."""
    right = SystemClock.now
    SystemClock.now = moved(right, Path(moved_by))  # type: ignore[assignment, method-assign]  # there is no other way to move it


def moved(right: Callable[[SystemClock], datetime], by: Path) -> Callable[[SystemClock], datetime]:
    def now(clock: SystemClock) -> datetime:
        return right(clock) + timedelta(seconds=int(by.read_text(encoding="ascii")))

    return now


def set_to(by: Path, moment: datetime, right_now: datetime) -> None:
    """Let those who go by the file believe that it is this moment. Nobody reads half a number."""
    written = by.with_suffix(".new")
    written.write_text(str(round((moment - right_now).total_seconds())), encoding="ascii")
    written.replace(by)
