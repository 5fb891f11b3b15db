"""What is wrong with a state of things: one row a case."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.core.status import Overdue, Problem, Undelivered
from abacus.oversight.growth.types import DiskForecast
from abacus.oversight.status.decide.problems import exit_code, problems
from abacus.oversight.status.types import (
    GroupLag,
    QueueState,
    RelayState,
    Snapshot,
    Without,
    WorkerState,
    Workforce,
)
from abacus.platform.presence.types import FailureNote

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
PIPELINE = ("awarder", "relay")


def worker(name: str, state: str = "ready", detail: str = "", *, age_s: int = 600, gone: bool = False) -> WorkerState:
    started_at = NOW - timedelta(seconds=age_s)
    return WorkerState(name, "host", 7, "0.1.0", state, detail, started_at, NOW - timedelta(seconds=90), gone)


def queue(name: str, waiting: int = 0, oldest_s: float | None = 0.0, **changes: Any) -> QueueState:
    return QueueState(f"abacus-{name}", waiting, 0, 0, oldest_s, dead_letters=name.endswith("-dlq"))._replace(**changes)


GOOD = Snapshot(
    at=NOW,
    workforce=Workforce([worker("awarder"), worker("relay"), worker("api")], 4.0),
    lags=[GroupLag("transactions", "abacus-calculator", "calculator", 10_000)],
    queues=[queue("award", 2968), queue("award-dlq", oldest_s=None), queue("retry", 5, 86_399.0)],
    relay=RelayState(7, NOW - timedelta(seconds=5)),
    quarantine={},
    undelivered=[Undelivered("letters", "7 letters wait", {"letters": 7}, None)],
    overdue=[],
    unknown={},
)


def workers(*each: WorkerState, cards_age_s: float | None = 4.0) -> Workforce:
    return Workforce([worker("awarder"), worker("relay"), *each], cards_age_s)


def disk(days_left: int | None) -> DiskForecast:
    full_on = None if days_left is None else NOW.date() + timedelta(days=days_left)
    return DiskForecast(900, 1, 7, 1000, days_left, full_on, ())


FAILED = FailureNote("abacus-award", "KeyError: 'points'", NOW, 10)
SHORT = Workforce([worker("relay")], 4.0)
CASES: list[tuple[str, dict[str, Any], str | None]] = [
    ("all is well", {}, None),
    ("a worker is missing", {"workforce": SHORT}, "no process runs the worker awarder"),
    (
        "a worker of the pipeline was killed",
        {"workforce": Workforce([worker("relay"), worker("awarder", gone=True)], 4.0)},
        "no process runs the worker awarder",
    ),
    (
        "a process does without something",
        {"workforce": workers()._replace(without=[Without("service score", "host", 7, "no answer")])},
        "a process on host (pid 7) does without service score: no answer",
    ),
    ("another was killed", {"workforce": workers(worker("api", gone=True))}, "the worker api on host (pid 7) is"),
    ("one was killed and another runs", {"workforce": workers(worker("api", gone=True), worker("api"))}, None),
    ("nobody needs the others", {"workforce": workers()}, None),
    ("a worker waits", {"workforce": workers(worker("api", "waiting", "SQS: away"))}, "(pid 7) waits: SQS: away"),
    ("the breaker", {"workforce": workers(worker("calculator", "stopped", "60 of 100"))}, "has stopped: 60 of 100"),
    ("it starts", {"workforce": workers(worker("api", "starting", age_s=60))}, None),
    ("it starts for ever", {"workforce": workers(worker("api", "starting"))}, "is not ready since its start"),
    ("old cards", {"workforce": workers(cards_age_s=61.0)}, "rate cards in use are 61 s old"),
    ("lag", {"lags": [GroupLag("t", "abacus-calculator", "calculator", 10_001)]}, "has 10,001 messages of t to read"),
    ("dead letters", {"queues": [queue("award-dlq", 3)]}, "abacus-award-dlq holds 3 dead letters"),
    (
        "dead letters with their cause",
        {"queues": [queue("award-dlq", 3)], "workforce": workers()._replace(failures={"abacus-award": FAILED})},
        "abacus-award-dlq holds 3 dead letters; a message of abacus-award last failed with KeyError: 'points'",
    ),
    ("an old award", {"queues": [queue("award", 1, 301.0)]}, "the oldest message of abacus-award is 301 s old"),
    ("an old retry", {"queues": [queue("retry", 1, 86_401.0)]}, "the oldest message of abacus-retry is 86,401 s old"),
    ("the relay", {"relay": RelayState(7, NOW - timedelta(minutes=2))}, "7 transfers are not published"),
    ("set aside", {"quarantine": {"unknown-vertical": 12}}, "the quarantine holds 12 of unknown-vertical"),
    (
        "not delivered",
        {"undelivered": [Undelivered("letters", "", {}, None), Undelivered("posts", "", {}, Problem("2 wait", "go"))]},
        "2 wait",
    ),
    ("no disk is told", {"sizes": disk(None)}, None),
    ("the disk has a month", {"sizes": disk(30)}, None),
    ("the disk is soon full", {"sizes": disk(29)}, "full on 2026-12-21, in 29 days, at this rate"),
    ("the disk is full", {"sizes": disk(0)}, "full on 2026-11-22, in 0 days"),
    ("a job", {"overdue": [Overdue("tiers roll", "SG", "3 tiers", "do it")]}, "tiers roll of SG: 3 tiers"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "fault"), [pytest.param(*row, id=name) for name, *row in CASES])
def test_each_problem_has_its_line_and_its_remedy(changes: dict[str, Any], fault: str | None) -> None:
    faults = problems(GOOD._replace(**changes), PIPELINE, "abacus-")
    if fault is None:
        assert faults == []
    else:
        assert len(faults) == 1
        assert fault in faults[0].fault
        assert faults[0].remedy


@pytest.mark.parametrize(
    ("unknown", "faults", "code"),
    [({}, 0, 0), ({}, 1, 1), ({"queues": "away"}, 1, 1), ({"queues": "away"}, 0, 2)],
)
def test_the_exit_code_is_for_monitoring(unknown: dict[str, str], faults: int, code: int) -> None:
    assert exit_code(GOOD._replace(unknown=unknown), [Problem("", "")] * faults) == code


def test_parts_that_could_not_be_read_are_no_problems() -> None:
    nothing = Snapshot(NOW, None, None, None, None, None, None, None, {"database": "away"})
    assert problems(nothing, PIPELINE, "abacus-") == []
