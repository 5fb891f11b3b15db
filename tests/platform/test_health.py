"""Each change of a worker's state is logged once, however often it is reported."""

from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from abacus.core.errors import Unavailable
from abacus.platform.health import Health, WorkerHealth, WorkerState, sub_workers_of

Report = Callable[[WorkerHealth], None]


def ready(health: WorkerHealth) -> None:
    health.ready()


def waits_for(dependency: str, detail: str = "down") -> Report:
    return lambda health: health.waiting(Unavailable(dependency, detail))


def stopped(health: WorkerHealth) -> None:
    health.stopped("too much is bad")


# The reports in turn; the level and event of each line that is logged, the state and its detail at the end.
TRANSITIONS: list[tuple[str, list[Report], list[tuple[str, str]], WorkerState, str]] = [
    ("nothing yet", [], [], WorkerState.STARTING, ""),
    ("ready once", [ready, ready, ready], [("info", "worker ready")], WorkerState.READY, ""),
    (
        "waits for one thing, in other words each time",
        [waits_for("database", "refused"), waits_for("database", "timed out"), waits_for("database", "refused")],
        [("warning", "worker waits")],
        WorkerState.WAITING,
        "database: refused",
    ),
    (
        "waits for another thing",
        [waits_for("database"), waits_for("queue abacus-award"), waits_for("queue abacus-award")],
        [("warning", "worker waits")] * 2,
        WorkerState.WAITING,
        "queue abacus-award: down",
    ),
    (
        "the detail holds colons",
        [waits_for("SQS", "http://localhost:9324: refused"), waits_for("SQS", "http://localhost:9324: refused")],
        [("warning", "worker waits")],
        WorkerState.WAITING,
        "SQS: http://localhost:9324: refused",
    ),
    (
        "recovers, and fails again",
        [ready, waits_for("Kafka"), ready, ready, waits_for("Kafka")],
        [("info", "worker ready"), ("warning", "worker waits"), ("info", "worker ready"), ("warning", "worker waits")],
        WorkerState.WAITING,
        "Kafka: down",
    ),
    (
        "stops for good",
        [ready, stopped, stopped],
        [("info", "worker ready"), ("error", "worker stopped")],
        WorkerState.STOPPED,
        "too much is bad",
    ),
]


@pytest.mark.parametrize(
    ("reports", "logged", "state", "detail"), [pytest.param(*row, id=name) for name, *row in TRANSITIONS]
)
def test_transitions(reports: list[Report], logged: list[tuple[str, str]], state: WorkerState, detail: str) -> None:
    health = WorkerHealth("awarder")
    with capture_logs() as logs:
        for report in reports:
            report(health)
    assert [(line["log_level"], line["event"]) for line in logs] == logged
    assert all(line["worker"] == "awarder" for line in logs)
    assert (health.state, health.detail) == (state, detail)


def test_the_log_says_what_is_waited_for() -> None:
    lines: list[Any]
    with capture_logs() as lines:
        WorkerHealth("awarder").waiting(refused := Unavailable("database", "refused"))
    assert lines == [{"log_level": "warning", "event": "worker waits", "worker": "awarder", "away": refused}]


@pytest.mark.parametrize(
    ("reports", "outcome"),
    [
        ({}, False),
        ({"awarder": ready}, False),
        ({"awarder": ready, "relay": ready}, True),
        ({"awarder": ready, "relay": waits_for("Kafka")}, False),
        ({"awarder": stopped, "relay": ready}, False),
    ],
    ids=["both starting", "one starting", "both ready", "one waiting", "one stopped"],
)
def test_a_process_is_ready_when_all_its_workers_are(reports: dict[str, Report], outcome: bool) -> None:  # noqa: FBT001  # the expected outcome of a row
    health = Health(["relay", "awarder"])
    for name, report in reports.items():
        report(health.worker(name))
    assert health.ready is outcome


def test_the_report_of_a_process() -> None:
    health = Health(["relay", "awarder"])
    health.worker("relay").waiting(Unavailable("Kafka", "no broker"))
    assert health.report() == {
        "awarder": {"state": "starting", "detail": ""},
        "relay": {"state": "waiting", "detail": "Kafka: no broker"},
    }


def test_a_worker_is_ready_when_all_its_sub_workers_are() -> None:
    whole = WorkerHealth("webhooks")
    first, second = sub_workers_of(whole, 2)
    steps: list[tuple[WorkerHealth, Report, WorkerState, str]] = [
        (first, ready, WorkerState.STARTING, ""),
        (second, ready, WorkerState.READY, ""),
        (first, waits_for("Kafka"), WorkerState.WAITING, "Kafka: down"),
        (second, waits_for("database"), WorkerState.WAITING, "Kafka: down"),
        (second, ready, WorkerState.WAITING, "Kafka: down"),
        (first, ready, WorkerState.READY, ""),
        (second, stopped, WorkerState.STOPPED, "too much is bad"),
    ]
    for sub_worker, report, state, detail in steps:
        report(sub_worker)
        assert (whole.state, whole.detail) == (state, detail)
