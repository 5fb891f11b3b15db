"""One owner per data directory."""

import fcntl
import os
from pathlib import Path

from abacus.core.errors import Refused


class DirectoryLock:
    """An advisory lock on a directory, held by this process until it lets go or dies, however it dies.

    It makes it safe to stop a Postgres that still runs in the directory: its owner cannot be alive.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / "owner.lock"
        self._descriptor: int | None = None

    def take(self) -> None:
        """Become the owner. Raises `Refused` while another process, or another stack in this one, is the owner."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except PermissionError as denied:
            raise Refused(
                f"{denied}: {self._path.parent} belongs to someone else, choose another data directory"
            ) from None
        except OSError as error:  # it is a file, or on a disk that is full or read only
            raise Refused(f"{error}: choose another data directory") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 32, 0).decode().strip() or "unknown"
            os.close(descriptor)
            raise Refused(
                f"{self._path.parent} is in use by process {owner}: stop that one, or choose another data directory"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the next owner in. The file stays: removing it would let two owners lock two files of one name."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
