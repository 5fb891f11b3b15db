"""The nursery of trials: a process that has imported the libraries that the tests use, but nothing of Abacus.

Each line that it reads asks for one trial. It forks a child, which imports Abacus and its tests from the copy that the
line names and runs pytest there: so a trial starts without the seconds that imports take, and never sees the checkout.
Run as a program, outside of every package.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

_USED: Final = (
    *("alembic.autogenerate", "alembic.command", "asyncpg", "hypothesis.stateful", "orjson", "prometheus_client"),
    *("pydantic", "rich.console", "sqlalchemy.ext.asyncio", "structlog", "typer", "typing_extensions"),
)
_PLUGINS: Final = ("pytest_asyncio.plugin", "pytest_timeout", "_hypothesis_pytestplugin")


class Heard:
    """Pytest's report: the first test whose own body failed and why, and whether anything failed elsewhere."""

    def __init__(self) -> None:
        self.killed_by: str | None = None
        self.because = ""
        self.trouble: str | None = None
        self.passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.when == "call":
            self.killed_by = self.killed_by or report.nodeid
            wrong = [line[1:].strip() for line in report.longreprtext.splitlines() if line.startswith("E")]
            self.because = self.because or "\n".join(wrong)
        elif report.failed:
            self.trouble = self.trouble or f"{report.when} of {report.nodeid}"
        elif report.when == "call" and report.passed:
            self.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.trouble = self.trouble or f"collection of {report.nodeid}"


def main() -> None:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.dont_write_bytecode = True  # a file that is changed and changed back within a second looks unchanged
    for name in (*_USED, *_PLUGINS):
        importlib.import_module(name)
    if early := [name for name in sys.modules if name.split(".")[0] in {"abacus", "tests", "workers"}]:
        sys.exit(f"imported too early: {', '.join(early)}")
    for line in sys.stdin:
        order = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            _be_born(writing, Path(order["copy"]), order["tests"])
            return
        os.close(writing)
        with os.fdopen(reading) as told:
            answer = told.read()
        os.waitpid(child, 0)
        print(answer or json.dumps({"trouble": "the tests ended without a word"}), flush=True)  # noqa: T201  # the answer to the trial


def _be_born(writing: int, copy: Path, tests: list[str]) -> None:
    log = os.open(copy / "trial.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (0, 1, 2):
        os.dup2(log if stream else os.open(os.devnull, os.O_RDONLY), stream)
    os.chdir(copy)
    sys.path.insert(0, str(copy))  # before the checkout, which an editable install names
    with os.fdopen(writing, "w") as told:
        told.write(json.dumps(_trial(copy, tests)))


def _trial(copy: Path, tests: list[str]) -> dict[str, Any]:
    heard = Heard()
    options = ("-x", "-q", "-p", "no:cacheprovider", "--timeout=60")
    code = int(pytest.main([*options, *tests], plugins=[heard, *(sys.modules[name] for name in _PLUGINS)]))
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        heard.trouble = heard.trouble or f"pytest ended with {code}"
    if (home := getattr(sys.modules.get("abacus"), "__file__", None)) is None or copy not in Path(home).parents:
        heard.trouble = f"abacus was imported from {home}"
    return vars(heard)


if __name__ == "__main__":
    main()
