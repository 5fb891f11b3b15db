"""A program that runs on after the one that started it, until it is stopped by its pid file."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from abacus.core.errors import Unavailable

_STOP_SECONDS = 30.0
_KILL_SECONDS = 5.0
_LOOK_EVERY_SECONDS = 0.1
_TAIL_BYTES = 2_000


class Daemon:
    """What runs in `home`, where its pid and its log stand too. Its command line has to name `home`.

    Process ids are used again. Only a process whose command line names `home` is taken for the one that the pid file
    means, so nothing else is ever stopped.
    """

    def __init__(self, name: str, home: Path, stop_signal: signal.Signals = signal.SIGTERM) -> None:
        self.name = name
        self.home = home
        self.log = home / "log"
        self._pid_file = home / "pid"
        self._stop_signal = stop_signal

    def process(self) -> psutil.Process | None:
        """The process while it lives."""
        try:
            process = psutil.Process(int(self._pid_file.read_text(encoding="ascii")))
            return process if any(str(self.home) in argument for argument in process.cmdline()) else None
        except (FileNotFoundError, ValueError, psutil.Error):
            return None

    def start(self, command: Sequence[str], *, user: int | None = None, group: int | None = None) -> None:
        """Run it in a session of its own, so that neither a Ctrl-C nor the end of the terminal reaches it."""
        with self.log.open("wb") as log:
            process = subprocess.Popen(  # noqa: S603  # the command comes from services.py
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                start_new_session=True,
                user=user,
                group=group,
                extra_groups=None if group is None else [],
            )
        self._pid_file.write_text(f"{process.pid}\n", encoding="ascii")

    def log_tail(self) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return log.read().decode(errors="replace").strip() or "(nothing)"

    def ask_to_end(self) -> None:
        """Send it the signal on which it puts its house in order."""
        self._send(self._stop_signal)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def forget(self) -> None:
        self._pid_file.unlink(missing_ok=True)

    def _send(self, what: signal.Signals) -> None:
        process = self.process()
        if process is not None:
            with suppress(psutil.NoSuchProcess):  # it ended just now
                process.send_signal(what)


def stop(daemons: Iterable[Daemon]) -> None:
    """Stop them all at once: ask, wait, and kill what is left."""
    asked = list(daemons)
    for daemon in asked:
        daemon.ask_to_end()
    if not _all_ended(asked, within_s=_STOP_SECONDS):
        for daemon in asked:
            daemon.kill()
        if not _all_ended(asked, within_s=_KILL_SECONDS):
            names = ", ".join(daemon.name for daemon in asked if daemon.process())
            raise Unavailable(names, "cannot be stopped")
    for daemon in asked:
        daemon.forget()


def _all_ended(daemons: Iterable[Daemon], *, within_s: float) -> bool:
    """Whether they end in time. One that ended but has no parent to take note of it counts as ended."""
    deadline = time.monotonic() + within_s
    while any(daemon.process() for daemon in daemons):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_EVERY_SECONDS)
    return True
