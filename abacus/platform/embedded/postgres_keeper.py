"""The child process that keeps a postmaster, and takes it down when the owner is gone.

`EmbeddedPostgres` runs it as `python -m abacus.platform.embedded.postgres_keeper PID_FILE USER_ID GROUP_ID COMMAND…`;
the ids are empty when Postgres runs as the owner's user.
"""

import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from abacus.platform.embedded.lifeline import Lifeline

# Each way to stop is ruder than the one before: ask the sessions to end; recover at the next start; just go.
_WAYS_TO_STOP = ((signal.SIGINT, 12.0), (signal.SIGQUIT, 3.0), (signal.SIGKILL, 5.0))
_STATUS_LINE = 7
_LOOK_EVERY_SECONDS = 0.01


def main(pid_file: Path, user: str, group: str, command: Sequence[str]) -> int:
    """Run Postgres until it ends or the parent is gone."""
    lifeline = Lifeline()
    signal.signal(signal.SIGTERM, _leave)
    postgres = subprocess.Popen(  # noqa: S603  # the command comes from our parent
        command,
        stdin=subprocess.DEVNULL,
        user=int(user) if user else None,
        group=int(group) if group else None,
        extra_groups=[] if group else None,
    )
    try:
        while not _accepts_connections(pid_file, postgres.pid):
            if postgres.poll() is not None or lifeline.is_cut(wait_seconds=_LOOK_EVERY_SECONDS):
                return 1
        lifeline.announce(str(postgres.pid))
        while not lifeline.is_cut(wait_seconds=0.5):
            if postgres.poll() is not None:
                return 1
        return 0
    finally:
        _stop(postgres)


def _accepts_connections(pid_file: Path, pid: int) -> bool:
    """Whether the postmaster says so in its pid file, the way pg_ctl learns it."""
    try:
        lines = pid_file.read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > _STATUS_LINE and lines[0] == str(pid) and lines[_STATUS_LINE].strip() == "ready"


def _stop(postgres: subprocess.Popen[bytes]) -> None:
    for way, seconds in _WAYS_TO_STOP:
        if postgres.poll() is not None:
            return
        postgres.send_signal(way)
        with suppress(subprocess.TimeoutExpired):
            postgres.wait(seconds)


def _leave(signal_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal_number)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]))
