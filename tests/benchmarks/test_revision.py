"""A revision laid out beside this tree: its code runs, and no other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from abacus.core.errors import Refused
from benchmarks.revision import PACKAGES, THIS, Tree, described, laid_out, locked, other_packages

LOCK = """
# made by make lock
alembic==1.18.0 \\
    --hash=sha256:00 \\
    # via abacus
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:01
"""


def test_the_revision_runs_its_own_code() -> None:
    with laid_out("HEAD") as tree:
        ran = subprocess.run(
            [sys.executable, "-c", "import abacus.core.errors as errors; print(errors.__file__)"],
            check=True,
            capture_output=True,
            text=True,
            cwd=tree.path.parent,
            env=tree.environment(),
        )
        assert Path(ran.stdout.strip()) == tree.path / "abacus" / "core" / "errors.py"
        assert all((tree.path / package).is_dir() for package in PACKAGES)
        assert other_packages(tree, tree) == []
    assert not tree.path.exists()


def test_the_settings_of_the_shell_do_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABACUS_DATABASE_URL", "postgresql://elsewhere/production")
    monkeypatch.setenv("TZ", "UTC")
    environment = THIS.environment()
    assert "ABACUS_DATABASE_URL" not in environment
    assert environment["TZ"] == "UTC"


@pytest.mark.parametrize("revision", ["no-such-revision", "--all", "HEAD:README.md", ""])
def test_what_is_no_revision_is_refused(revision: str) -> None:
    with pytest.raises(Refused, match=r"git rev-parse"), laid_out(revision):
        pytest.fail("it was laid out")


def test_a_tree_without_the_code_is_refused(tmp_path: Path) -> None:
    (tmp_path / "abacus").mkdir()
    (tmp_path / "abacus" / "__init__.py").touch()
    with pytest.raises(Refused, match=r"would be measured instead"):
        Tree(tmp_path.resolve()).check()  # the other packages are this tree's
    (tmp_path / "workers.py").write_text("import package_of_old\n", encoding="utf-8")
    with pytest.raises(Refused, match=r"does not run with .*No module named 'package_of_old'"):
        Tree(tmp_path.resolve()).check()


def test_the_packages_of_a_lock() -> None:
    assert locked(LOCK) == {"alembic==1.18.0", "colorama==0.4.6"}


def test_a_revision_is_told_by_name_date_and_subject() -> None:
    assert re.fullmatch(r"[0-9a-f]{7,} of \d{4}-\d\d-\d\d, “.+”", described("HEAD"))
