"""Revisions of this repository that run side by side: each a tree of files, run by the Python of this environment."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from abacus.core.errors import Refused

HERE: Final = Path(__file__).parent.parent.resolve()
PACKAGES: Final = ("abacus", "workers", "benchmarks", "localstack")
LOCK: Final = "requirements.lock"

_ORIGINS: Final = f"""
import {", ".join(PACKAGES)}
for package in ({", ".join(PACKAGES)}):
    print(next(iter(package.__path__)))
"""
_SERVICES: Final = ".abacus"  # the data and addresses of `make services`, which both trees use


class Tree(NamedTuple):
    """The files of a revision."""

    path: Path

    def environment(self) -> dict[str, str]:
        """The environment of a process that runs this tree's code, without this shell's settings of Abacus."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}
        return kept | {"PYTHONPATH": str(self.path)}

    def check(self) -> None:
        """Raises `Refused` unless each package can be imported, and comes from this tree."""
        ran = subprocess.run(  # noqa: S603  # our own
            [sys.executable, "-c", _ORIGINS],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.path,
            env=self.environment(),
        )
        if ran.returncode:
            raise Refused(f"{self.path} does not run with the packages of this environment: {_last_line(ran.stderr)}")
        for origin in ran.stdout.splitlines():
            if not Path(origin).resolve().is_relative_to(self.path):
                raise Refused(f"{origin} would be measured instead of the code in {self.path}")

    def locked(self) -> set[str]:
        """The packages of its lock, as `name==version`."""
        return locked((self.path / LOCK).read_text(encoding="utf-8"))


THIS: Final = Tree(HERE)


def locked(lock: str) -> set[str]:
    """The packages that a lock names, as `name==version`, without conditions and hashes."""
    lines = (line.split()[0] for line in lock.splitlines() if line and not line.startswith((" ", "#")))
    return {line.rstrip(";") for line in lines if "==" in line}


@contextmanager
def laid_out(revision: str) -> Iterator[Tree]:
    """The files of a revision in a temporary directory, which is removed with the block. The services that this tree
    has started serve that one too. Raises `Refused` when there is no such revision or it does not run here.
    """
    with tempfile.TemporaryDirectory(prefix="abacus-revision-") as directory:
        tree = Tree(Path(directory).resolve() / "tree")
        commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        index = Path(directory) / "index"  # the repository's own stays as it is
        _git("read-tree", commit, index=index)
        _git("checkout-index", "--all", f"--prefix={tree.path}/", index=index)
        (HERE / _SERVICES).mkdir(exist_ok=True)
        (tree.path / _SERVICES).symlink_to(HERE / _SERVICES)
        tree.check()
        yield tree


def described(revision: str) -> str:
    """The short name, date and subject of a revision."""
    return _git("show", "--no-patch", "--format=%h of %as, “%s”", "--end-of-options", revision)


def other_packages(before: Tree, since: Tree) -> list[str]:
    """The packages that the lock of one tree names and the other's does not, or in another version."""
    return sorted(before.locked() ^ since.locked())


def _git(*arguments: str, index: Path | None = None) -> str:
    ran = subprocess.run(  # noqa: S603  # our own
        ["git", "-C", str(HERE), *arguments],  # noqa: S607  # the path's
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {}),
    )
    if ran.returncode:
        raise Refused(f"git {' '.join(arguments)}: {_last_line(ran.stderr) or 'there is no such revision'}")
    return ran.stdout.strip()


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
