"""The watch: one process of the console looks in each half minute, and all show what it saw, also after a restart."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from abacus.console.decide.alarms import Alarm, alarms_of, changes_of
from abacus.console.watch.store import EVERY, WatchStore
from abacus.console.watch.watch import look
from abacus.core.status import Cause, Problem
from abacus.oversight.status.sources import Places
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import ProcessNote, Report, WorkerNote
from tests.console.desk import Clock, desk

NOW = datetime(2026, 7, 3, 14, 30, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NOTHING_UNREAD = frozenset[Cause]()


def alarms(*about: str) -> list[Alarm]:
    return alarms_of([Problem(f"{each} is away", "start it", Cause.WORKER_AWAY, each) for each in about])


def told(shown: list[Alarm]) -> dict[str, tuple[datetime | None, datetime | None]]:
    return {each.about: (each.since, each.over_at) for each in shown}


@pytest.mark.parametrize(
    ("seconds_later", "turn"),
    [(0.0, None), (19.0, None), (20.0, NOW.replace(second=30)), (50.0, NOW.replace(minute=31, second=0))],
)
async def test_a_half_minute_has_one_look(pool: Pool, seconds_later: float, turn: datetime | None) -> None:
    assert await WatchStore(pool).begin(NOW) == NOW.replace(second=0)
    assert await WatchStore(pool).begin(NOW + timedelta(seconds=seconds_later)) == turn


async def test_an_alarm_stands_since_it_rose_whoever_looks(pool: Pool) -> None:
    await WatchStore(pool).note(alarms("relay", "awarder"), NOTHING_UNREAD, NOW)
    again = await WatchStore(pool).note(alarms("relay"), NOTHING_UNREAD, NOW + MINUTE)
    seen = {"relay": (NOW, None), "awarder": (NOW, NOW + MINUTE)}
    assert told([*again]) == seen
    assert told([*await WatchStore(pool).alarms()]) == seen
    unread = await WatchStore(pool).note([], {Cause.WORKER_AWAY}, NOW + 2 * MINUTE)
    assert told([*unread]) == seen
    over = await WatchStore(pool).note([], NOTHING_UNREAD, NOW + 62 * MINUTE)
    assert told([*over]) == {"relay": (NOW, NOW + 62 * MINUTE)}
    assert [(each.what, each.details, each.commands) for each in await WatchStore(pool).alarms()] == [
        ("The relay does not run", ["relay is away"], ["start it"])
    ]


@pytest.mark.parametrize(
    ("known", "after", "changed", "gone"),
    [
        ([], [], 0, 0),
        ([], ["relay"], 1, 0),
        (["relay"], ["relay"], 0, 0),
        (["relay"], ["relay", "awarder"], 1, 0),
        (["relay", "awarder"], ["awarder"], 0, 1),
    ],
)
def test_rows_are_written_where_something_changed(known: list[str], after: list[str], changed: int, gone: int) -> None:
    assert tuple(map(len, changes_of(alarms(*known), alarms(*after)))) == (changed, gone)


async def test_readings_are_of_the_last_hour_and_others_are_deleted(pool: Pool) -> None:
    store = WatchStore(pool)
    for minutes, waits_s in ((0, 5.0), (30, 6.0), (70, 7.0)):
        turn = await store.begin(NOW + minutes * MINUTE)
        assert turn is not None
        await store.end(turn, {"award": waits_s})
    found = await store.readings(NOW + 75 * MINUTE)
    assert [each.waits_s for each in found] == [{"award": 6.0}, {"award": 7.0}]
    assert await pool.fetchval("select count(*) from console_look") == 2


async def test_a_process_that_was_started_anew_shows_what_others_saw(pool: Pool) -> None:
    clock = Clock(NOW)
    places = Places(pool, None, None, "abacus-", "abacus.points.v1", [], ("awarder",))
    await look(places, WatchStore(pool), clock)
    [rose] = await WatchStore(pool).alarms()
    assert (rose.about, rose.since, rose.over_at) == ("awarder", NOW, None)
    assert await WatchStore(pool).fresh_alarms(NOW + EVERY) == [rose]
    assert await WatchStore(pool).fresh_alarms(NOW + 3 * EVERY) is None
    clock.pass_(minutes=2)
    report = Report({"awarder": WorkerNote("ready", "")}, {}, {"abacus-award": 7.5}, None)
    await Presence(pool, clock).note(ProcessNote(uuid4(), "host", 7, "0.1.0", clock.now(), clock.now(), report.text))
    await look(places, WatchStore(pool), clock)
    [over] = await WatchStore(pool).alarms()
    assert (over.since, over.over_at) == (NOW, clock.now())
    assert [each.waits_s.get("award") for each in await WatchStore(pool).readings(clock.now())] == [None, 7.5]


async def test_the_first_page_shows_what_the_watch_saw(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        await look(open_desk.rooms[Places], open_desk.rooms[WatchStore], open_desk.clock)
        assert "The awarder does not run" in (await ann.see("/")).text
