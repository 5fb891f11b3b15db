"""Processes note that they run, note their workers' states, and leave; one that was killed falls silent."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.platform.metrics import CACHE_ANSWERS, CACHE_ENTRIES, CACHE_STALE_SECONDS, QUEUE_AGE
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence, noted, report_of
from abacus.platform.presence.types import CacheNote, FailureNote, ProcessNote, Report, WorkerNote
from tests.support.commands import DOWN
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
CLOCK = FixedClock(NOW)
REPORT = Report({"relay": WorkerNote("ready", "")}, {}, {}, None)


def process(number: int, seen_at: datetime = NOW) -> ProcessNote:
    return ProcessNote(UUID(int=number), "host", number, "0.1.0", NOW, seen_at, REPORT.text)


async def reports(pool: Pool) -> list[Report]:
    return [Report.of(each.report) for each in await Presence(pool, CLOCK).all()]


async def test_a_process_notes_its_workers_while_it_runs_and_leaves(pool: Pool, database_url: str) -> None:
    health = Health(["awarder", "api"])
    health.worker("awarder").ready()
    async with noted(database_url, health, CLOCK, {}, every_s=0.1):
        async with asyncio.timeout(30):
            while not await reports(pool):  # noqa: ASYNC110  # another connection writes it
                await asyncio.sleep(0.02)
        [row] = await Presence(pool, CLOCK).all()
        assert (row.pid, row.started_at, row.is_gone(NOW)) == (os.getpid(), NOW, False)
        assert Report.of(row.report).workers["awarder"] == WorkerNote("ready", "")
        assert Report.of(row.report).workers["api"] == WorkerNote("starting", "")
        health.worker("awarder").waiting(Unavailable("SQS", "away"))
        async with asyncio.timeout(30):
            while (await reports(pool))[0].workers["awarder"] != WorkerNote("waiting", "SQS: away"):  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.02)
        health.worker("awarder").failed("t-award", KeyError("points"), 7)
    assert await reports(pool) == []
    [failure] = await Presence(pool, CLOCK).failures()
    assert (failure.queue, failure.why, failure.receives) == ("t-award", "KeyError: 'points'", 7)


@pytest.mark.parametrize("address", [None, DOWN, "postgresql://x?sslmode=bogus"], ids=["none", "down", "wrong"])
async def test_a_process_whose_database_is_away_goes_on(address: str | None) -> None:
    async with asyncio.timeout(20):
        async with noted(address, Health(["relay"]), CLOCK, {}, every_s=0.01):
            await asyncio.sleep(0.2)


async def test_a_silent_process_is_gone_and_then_forgotten(pool: Pool) -> None:
    presence = Presence(pool, CLOCK)
    await presence.note(process(1, NOW - timedelta(days=8)))
    await presence.note(process(2, NOW - timedelta(minutes=2)))
    await presence.note(process(3))
    assert [(each.pid, each.is_gone(NOW)) for each in await presence.all()] == [(2, True), (3, False)]


def failure(queue: str, why: str, ago: timedelta) -> FailureNote:
    return FailureNote(queue, why, NOW - ago, 10)


MINUTE, FORTNIGHT = timedelta(minutes=1), timedelta(days=14)


@pytest.mark.parametrize(
    ("noted_one_after_the_other", "kept"),
    [
        ([[("award", "old", 2 * MINUTE)], [("award", "new", MINUTE)]], {"award": "new"}),
        ([[("award", "new", MINUTE)], [("award", "old", 2 * MINUTE)]], {"award": "new"}),
        ([[("retry", "b", MINUTE), ("award", "a", MINUTE)], []], {"award": "a", "retry": "b"}),
        ([[("award", "no dead letter any more", FORTNIGHT + MINUTE)]], {}),
    ],
)
async def test_the_last_failure_of_a_queue_is_kept(
    pool: Pool, noted_one_after_the_other: list[list[tuple[str, str, timedelta]]], kept: dict[str, str]
) -> None:
    presence = Presence(pool, CLOCK)
    for number, failures in enumerate(noted_one_after_the_other):
        await presence.note(process(number), [failure(*each) for each in failures])
        await presence.leave(process(number).process_id)
    assert {each.queue: each.why for each in await presence.failures()} == kept


def test_a_report_says_what_the_process_knows() -> None:
    health = Health(["retrier"])
    health.worker("retrier").stopped("too much is bad")
    health.miss("SNS", "away")
    QUEUE_AGE.labels("presence-retry").set(12.5)
    for outcome, times in (("hit", 3), ("stale", 1)):
        CACHE_ANSWERS.labels("presence", outcome).inc(times)
    CACHE_STALE_SECONDS.labels("presence").observe(7)
    CACHE_ENTRIES.labels("presence").set(2)
    report = report_of(health, {"ABACUS_RETRY_HOURS": "5.0"})
    assert report.workers == {"retrier": WorkerNote("stopped", "too much is bad")}
    assert report.missed == {"SNS": "away"}
    assert report.queues["presence-retry"] == 12.5
    assert report.settings == {"ABACUS_RETRY_HOURS": "5.0"}
    assert report.caches["presence"] == CacheNote({"hit": 3, "stale": 1}, 2, 0, 7.0)
    assert Report.of(report.text) == report
    assert Report.of(report.text.replace(b'"state"', b'"new":1,"state"')) == report
    earlier = report.text.replace(b',"settings":{"ABACUS_RETRY_HOURS":"5.0"}', b"")
    assert Report.of(earlier) == report._replace(settings={})
