"""Of what is away one line a dependency and half a minute is logged, with how many were left out."""

import json
from contextlib import suppress
from typing import Any

import pytest
import structlog

from abacus.core.errors import Unavailable
from abacus.platform.logs import configure_logging
from abacus.platform.outage_lines import OutageLines

DATABASE = Unavailable("database", "[Errno 111] Connection refused")
STORE = Unavailable("counter store", "no answer in time")

CASES: list[tuple[str, list[tuple[float, str, dict[str, Any]]], list[tuple[str, dict[str, Any]]]]] = [
    (
        "one line in half a minute, whoever says so",
        [(0, "holds", {"away": DATABASE}), (0.5, "errands", {"away": DATABASE}), (29.9, "holds", {"away": DATABASE})],
        [("holds", {})],
    ),
    (
        "the next says how many were left out",
        [(at, event, {"away": DATABASE}) for at, event in ((0, "a"), (1, "b"), (2, "c"), (30, "d"), (60, "e"))],
        [("a", {}), ("d", {"left_out": 2}), ("e", {})],
    ),
    (
        "each dependency has a line",
        [(0, "a", {"away": DATABASE}), (0, "b", {"away": STORE}), (1, "c", {"away": STORE})],
        [("a", {}), ("b", {"dependency": "counter store", "detail": "no answer in time"})],
    ),
    (
        "what is back is said once too",
        [
            *((0, "a", {"away": DATABASE}), (1, "b", {"away": DATABASE})),
            *((9, "ready", {"back": "database"}), (9, "ready", {"back": "database"}), (10, "b", {"away": DATABASE})),
        ],
        [("a", {}), ("ready", {"dependency": "database", "left_out": 1})],
    ),
    (
        "other lines are let through",
        [(0, "a", {"away": DATABASE}), (1, "message failed", {"detail": "database"}), (1, "message failed", {})],
        [("a", {}), ("message failed", {"detail": "database"}), ("message failed", {})],
    ),
]


@pytest.mark.parametrize(("lines", "told"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_lines_about_what_is_away(
    lines: list[tuple[float, str, dict[str, Any]]], told: list[tuple[str, dict[str, Any]]]
) -> None:
    now = 100.0
    processor = OutageLines(monotonic=lambda: now)
    through: list[dict[str, Any]] = []
    for at, event, fields in lines:
        now = 100.0 + at
        with suppress(structlog.DropEvent):
            through.append(dict(processor(None, "warning", {"event": event, **fields})))
    of_database = {"dependency": "database", "detail": DATABASE.detail}
    expected = [
        {"event": event, **(of_database if event in {"holds", "a", "d", "e"} else {}), **more} for event, more in told
    ]
    assert through == expected


def test_the_log_has_one_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("json")
    log = structlog.get_logger("abacus.tests")
    for worker in ("awarder", "relay"):
        log.warning("worker waits", worker=worker, away=DATABASE)
    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["event"], said["worker"]) == ("worker waits", "awarder")
    assert (said["dependency"], said["detail"]) == ("database", DATABASE.detail)
