"""Programs that outlive their starter and are stopped by their pid files."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from abacus.core.errors import Unavailable

_STOP_SECONDS = 30.0
_KILL_SECONDS = 5.0
_LOOK_EVERY_SECONDS = 0.1
_LOADED_WITHIN_SECONDS = 5.0
_TAIL_BYTES = 2_000


class Daemon:
    """A program that runs in the directory `home`, with its pid and log files there. Its command line has to name
    `home`.

    Process ids are used again. A process counts as the one of the pid file only if its command line names `home`, so
    nothing else is ever stopped.
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

    def start(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        user: int | None = None,
        group: int | None = None,
    ) -> None:
        """Runs it in a session of its own, so that neither a Ctrl-C nor the end of the terminal reaches it; in our
        environment, unless it is given another.
        """
        with self.log.open("wb") as log:
            process = subprocess.Popen(  # noqa: S603  # the command comes from services.py
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=environment,
                start_new_session=True,
                user=user,
                group=group,
                extra_groups=None if group is None else [],
            )
        self._pid_file.write_text(f"{process.pid}\n", encoding="ascii")
        # For a moment it has no command line: it is loaded first. A look at it then would take it for another process.
        deadline = time.monotonic() + _LOADED_WITHIN_SECONDS
        while process.poll() is None and self.process() is None and time.monotonic() < deadline:
            time.sleep(_LOADED_WITHIN_SECONDS / 1000)

    def log_tail(self) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return log.read().decode(errors="replace").strip() or "(nothing)"

    def forget(self) -> None:
        self._pid_file.unlink(missing_ok=True)

    def ask_to_end(self, process: psutil.Process) -> None:
        """Sends the signal for an orderly end."""
        _send(process, self._stop_signal)


def stop(daemons: Iterable[Daemon]) -> None:
    """Stops all of them at once: asks, waits, and kills those that remain."""
    processes = [(daemon, daemon.process()) for daemon in daemons]
    running = [(daemon, process) for daemon, process in processes if process is not None]
    for daemon, process in running:
        daemon.ask_to_end(process)
    if not _all_ended([process for _, process in running], within_s=_STOP_SECONDS):
        for _, process in running:
            _send(process, signal.SIGKILL)
        if not _all_ended([process for _, process in running], within_s=_KILL_SECONDS):
            names = ", ".join(daemon.name for daemon, process in running if not _ended(process))
            raise Unavailable(names, "cannot be stopped")
    for daemon, _ in processes:
        daemon.forget()


def _send(process: psutil.Process, what: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):  # it ended just now
        process.send_signal(what)


def _all_ended(processes: Sequence[psutil.Process], *, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not all(_ended(process) for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_EVERY_SECONDS)
    return True


def _ended(process: psutil.Process) -> bool:
    """Whether the process has freed its files and ports. A zombie has ended; a process about to end has not: its
    command line is gone before its ports are.
    """
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
