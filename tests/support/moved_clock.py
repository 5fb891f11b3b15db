"""A clock that is wrong: the computer's, moved by as many seconds as a file says, which may change at any time.

Everything that reads the computer's clock reads this one instead, as it would if the machine's clock were wrong.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from abacus.core.clock import SystemClock


def go_by(moved_by: str) -> None:
    """From now on the file moves the clock of this process."""
    right = SystemClock.now
    SystemClock.now = moved(right, Path(moved_by))  # type: ignore[assignment, method-assign]  # there is no other way to move it


def moved(right: Callable[[SystemClock], datetime], by: Path) -> Callable[[SystemClock], datetime]:
    def now(clock: SystemClock) -> datetime:
        return right(clock) + timedelta(seconds=int(by.read_text(encoding="ascii")))

    return now


def set_to(by: Path, moment: datetime, right_now: datetime) -> None:
    """Move the clocks of all processes that read the file to this moment. Nobody reads half a number."""
    written = by.with_suffix(".new")
    written.write_text(str(round((moment - right_now).total_seconds())), encoding="ascii")
    written.replace(by)
