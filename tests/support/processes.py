"""`-n` runs the tests in that many processes, forked from one that has collected them: to import and collect them in
each process took a core ten seconds a process. Each has its stretch of the list, and takes over tests of others when it
is done.
"""

import multiprocessing
import random
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

_FORK: Final = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("abacus")._addoption(  # noqa: SLF001  # plugins of others may have no short options
        *("-n", "--processes"), type=int, default=1, help="run the tests in so many processes"
    )


def in_processes(config: pytest.Config) -> None:
    """For `pytest_configure`: the tests of the run in so many processes as `-n` says."""
    if count_of(config) > 1:
        config.pluginmanager.register(Processes(config))


def count_of(config: pytest.Config) -> int:
    """How many processes run tests."""
    count: int = config.getoption("processes", 1)
    return max(1, count)


def stretches(tests: int, processes: int) -> list[tuple[int, int]]:
    """What each process begins with; the last one has what is over."""
    length = tests // processes
    begins = [length * number for number in range(processes)]
    return list(zip(begins, [*begins[1:], tests], strict=True))


class Shares:
    """Of each process, the stretch of tests that nobody has taken yet."""

    def __init__(self, tests: int, processes: int) -> None:
        given = stretches(tests, processes)
        self._changing = _FORK.Lock()
        self._begins = _FORK.RawArray("i", [begin for begin, _ in given])
        self._ends = _FORK.RawArray("i", [end for _, end in given])

    def take(self, process: int) -> int | None:
        """The next test of this process: of its own stretch, or the second half of the longest that is left."""
        with self._changing:
            if self._begins[process] == self._ends[process]:
                left = [end - begin for begin, end in zip(self._begins, self._ends, strict=True)]
                longest = left.index(max(left))
                if not left[longest]:
                    return None
                self._ends[process] = self._ends[longest]
                self._ends[longest] -= (left[longest] + 1) // 2
                self._begins[process] = self._ends[longest]
            self._begins[process] += 1
            return int(self._begins[process]) - 1

    def stop(self) -> None:
        """Nobody takes a test any more."""
        with self._changing:
            self._begins[:] = self._ends[:]


class Telling:
    """In a process of tests: what pytest would say of them goes to the process that has collected them."""

    def __init__(self, config: pytest.Config, to: "Connection[Any, Any]") -> None:
        self._config = config
        self._to = to

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._to.send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._to.send(("pytest_runtest_logreport", {"report": told}))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._to.send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))


class Processes:
    """In the process that has collected the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._running: dict[Connection[Any, Any], tuple[ForkProcess, str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly or len(session.items) < 2:
            return None
        count = min(count_of(self._config), len(session.items))
        shares = Shares(len(session.items), count)
        try:
            for number in range(count):
                self._begin(session, shares, number)
            for hook, told in self._told():
                if "report" in told:
                    told["report"] = self._config.hook.pytest_report_from_serializable(
                        config=self._config, data=told["report"]
                    )
                getattr(self._config.hook, hook)(**told)
                if session.shouldfail or session.shouldstop:
                    shares.stop()
        finally:
            for process, _ in self._running.values():
                process.terminate()
                process.join()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        return True

    def _begin(self, session: pytest.Session, shares: Shares, number: int) -> None:
        hears, tells = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_run, args=(session, shares, number, tells), name=f"tests {number}")
        process.start()
        tells.close()
        self._running[hears] = process, ""

    def _told(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What the processes say, until all have ended."""
        while self._running:
            for each in wait(self._running):
                assert isinstance(each, Connection)
                process, test = self._running[each]
                try:
                    hook, told = each.recv()
                except EOFError:
                    process.join()
                    del self._running[each]
                    if process.exitcode:
                        yield "pytest_runtest_logreport", {"report": self._of_the_end(process.exitcode, test)}
                else:
                    self._running[each] = process, told.get("nodeid", test)
                    yield hook, told

    def _of_the_end(self, code: int, test: str) -> dict[str, Any]:
        """A process that ended amid a test, or after it."""
        report = pytest.TestReport(
            nodeid=test or "no test",
            location=(test.partition("::")[0], None, test),
            keywords={},
            outcome="failed",
            longrepr=f"the process of this test ended with {code}",
            when="call",
        )
        told: dict[str, Any] = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        return told


def _run(session: pytest.Session, shares: Shares, number: int, tells: "Connection[Any, Any]") -> None:
    """A process of tests, from its first to its last."""
    config = session.config
    random.seed()
    _of_its_own(config, number)
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Telling(config, tells))
    _run_tests(session.items, session, shares, number)
    session._setupstate.teardown_exact(None)  # noqa: SLF001  # as pytest itself at the end of a run that was stopped
    tells.close()


def _run_tests(items: Sequence[pytest.Item], session: pytest.Session, shares: Shares, number: int) -> None:
    taken = shares.take(number)
    while taken is not None and not (session.shouldfail or session.shouldstop):
        following = shares.take(number)
        item, after = items[taken], None if following is None else items[following]
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        taken = following


def _of_its_own(config: pytest.Config, number: int) -> None:
    """Output that is captured, and temporary folders, that no other process has."""
    captured = config.pluginmanager.getplugin("capturemanager")
    captured.stop_global_capturing()
    captured.start_global_capturing()
    captured.suspend_global_capture()
    folders = config._tmp_path_factory  # type: ignore[attr-defined]  # noqa: SLF001  # there is no other way to it
    folders._basetemp = folders.mktemp(f"process-{number}", numbered=False)  # noqa: SLF001  # as above
