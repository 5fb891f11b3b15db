"""A Postgres of its own on a disk that can be filled: a tmpfs, which only root may mount."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from abacus.platform.embedded.postgres import DATABASE, SETTINGS, ensure_database, postgres_cluster
from localstack.daemon import Daemon, stop
from localstack.services import HOST, distribution_postgres
from tests.reliability.chaos.needs import CannotBeHad
from tests.reliability.chaos.services import Restart, postgres_answers
from tests.support.ports import free_port

_SIZE: Final = 768 * 1024 * 1024
_BLOCK: Final = 4096
_SETTINGS: Final = SETTINGS | {"shared_buffers": "64MB", "max_wal_size": "96MB", "listen_addresses": HOST}
_FULL: Final = b"No space left on device"


@dataclass(frozen=True)
class SmallDisk:
    """Where the disk is mounted, and the server that works on it. Its log is elsewhere."""

    mounted: Path
    daemon: Daemon
    restart: Restart
    database_url: str

    def fill(self) -> None:
        """Leave nothing free."""
        with (self.mounted / "ballast").open("wb") as ballast:
            taken, portion = 0, _SIZE
            while portion >= _BLOCK:
                try:
                    os.posix_fallocate(ballast.fileno(), taken, portion)
                    taken += portion
                except OSError:  # the server takes some of the room meanwhile
                    portion //= 2

    async def free(self) -> None:
        """Make room again; a server that died of the full disk is started again, as its operator would."""
        (self.mounted / "ballast").unlink(missing_ok=True)
        await asyncio.sleep(1)
        if self.daemon.process() is None:
            self.restart.start()
        await postgres_answers(self.database_url)

    def times_full(self) -> int:
        """How often the server has met the end of the disk."""
        return self.daemon.log.read_bytes().count(_FULL)


@asynccontextmanager
async def small_disk(home: Path) -> AsyncIterator[SmallDisk]:
    """Raises `CannotBeHad`."""
    mounted = home / "disk"
    mounted.mkdir(parents=True)
    _mount(mounted)
    daemon = Daemon("postgres on a small disk", home)
    try:
        cluster = postgres_cluster(mounted / "cluster", durable=True, programs=distribution_postgres())
        await asyncio.to_thread(cluster.prepare)
        port = free_port()
        settings = _SETTINGS | {"port": str(port)}
        command = [cluster.program("postgres"), "-D", str(cluster.directory)]
        command += [f"--{name}={value}" for name, value in settings.items()]
        account = cluster.account
        daemon.start(command, user=account and account.pw_uid, group=account and account.pw_gid)
        database_url = f"postgresql://postgres@{HOST}:{port}/{DATABASE}"
        await postgres_answers(database_url.replace(DATABASE, "postgres"))
        await ensure_database(port)
        yield SmallDisk(mounted, daemon, Restart.of(daemon), database_url)
    finally:
        await asyncio.to_thread(stop, [daemon])
        await asyncio.to_thread(_unmount, mounted)


def _mount(at: Path) -> None:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        raise CannotBeHad("a small disk: only root may mount one")
    options = f"size={_SIZE},mode=0755"
    outcome = subprocess.run(  # noqa: S603  # a disk in memory
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(at)],  # noqa: S607  # the system's own
        capture_output=True,
        text=True,
        check=False,
    )
    if outcome.returncode:
        raise CannotBeHad(f"a small disk: {' '.join(outcome.stderr.split())}")


def _unmount(at: Path) -> None:
    subprocess.run(["umount", str(at)], check=True)  # noqa: S603, S607  # what was mounted here
