"""Positions are followed on a real Postgres: what members cross is published and written, and nothing says where they
were.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from abacus.core.errors import Reason
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import ALL_HELD, QuarantineStore
from abacus.platform.quarantine.types import Stage
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.visit import Visit
from abacus.signals.places.position_follower import PositionFollower, Publish
from abacus.signals.places.status import STATUS
from abacus.signals.places.visit_rows import keep_visits, visits_of
from abacus.signals.places.visit_sweeper import KEPT, VisitSweeper
from tests.signals.places.strips import Strips, strip
from tests.support.fixed_clock import FixedClock

NOW: Final = datetime(2026, 1, 10, 12, tzinfo=UTC)
LON: Final = 103.8318227
LAT: Final = 1.3040718
STRIPS: Final = Strips(strip("singapore", 103, 104), strip("johor", 104, 105, country="MY"))


class Died(Exception):
    pass


class Topic:
    """Keeps what is published, and dies behind it while it is told to."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.dies = False

    async def publish(self, messages: Sequence[StreamMessage]) -> None:
        self.events += [json.loads(each.value) for each in messages]
        if self.dies:
            raise Died

    def told(self) -> list[tuple[str, str, str]]:
        return [(each["type"], each["member_id"], each["var"]["region"]) for each in self.events]


def message(minute: float = 0, lon: object = LON, **changes: object) -> bytes:
    at = (NOW + timedelta(minutes=minute)).isoformat()
    return json.dumps({"member_id": "bob", "lat": LAT, "lon": lon, "accuracy_m": 8, "at": at, **changes}).encode()


def records(*values: bytes) -> list[Record]:
    return [Record(value, "abacus.positions.v1", 0, offset) for offset, value in enumerate(values)]


def follower(pool: Pool, publish: Publish, *, now: datetime = NOW + timedelta(minutes=50)) -> PositionFollower:
    clock = FixedClock(now)
    return PositionFollower(
        pool,
        lambda: STRIPS,
        Maps,
        publish,
        QuarantineStore(pool, clock),
        clock=clock,
        health=WorkerHealth("positions"),
    )


def stay(member: str, region: str, since: datetime, seen_at: datetime, *, inside: bool) -> Visit:
    return Visit(member, region, inside, since, seen_at)


async def visits(pool: Pool, *members: str) -> list[Visit]:
    found = []
    for member in members:
        async with slices.at(pool, member) as connection:
            found += await visits_of(connection, [member])
    return found


async def test_what_members_cross_is_told_and_written(pool: Pool) -> None:
    topic = Topic()
    following = follower(pool, topic.publish)
    await following.handle(records(message(), message(0, 104.5, member_id="ann")))
    await following.handle(records(message(40, 104.5)))
    assert topic.told() == [
        ("place.entered", "bob", "singapore"),
        ("place.entered", "ann", "johor"),
        ("place.left", "bob", "singapore"),
        ("place.entered", "bob", "johor"),
    ]
    assert [each["country"] for each in topic.events] == ["SG", "MY", "SG", "MY"]
    since = NOW + timedelta(minutes=40)
    assert await visits(pool, "ann", "bob") == [
        stay("ann", "johor", NOW, NOW, inside=True),
        stay("bob", "johor", since, since, inside=True),
        stay("bob", "singapore", since, since, inside=False),
    ]


async def test_a_process_that_dies_behind_the_broker_tells_the_same_again(pool: Pool) -> None:
    topic = Topic()
    topic.dies = True
    with pytest.raises(Died):
        await follower(pool, topic.publish).handle(records(message()))
    topic.dies = False
    for _ in range(2):
        await follower(pool, topic.publish).handle(records(message()))
    assert topic.events == [topic.events[0]] * 2


async def test_a_process_that_lost_its_partition_writes_nothing_old(pool: Pool) -> None:
    new = stay("bob", "singapore", NOW, NOW, inside=False)
    async with slices.at(pool, "bob") as connection:
        await keep_visits(connection, [new])
        await keep_visits(connection, [stay("bob", "singapore", *[NOW - timedelta(minutes=1)] * 2, inside=True)])
    assert await visits(pool, "bob") == [new]


GARBAGE: Final = [
    (message(lat=91.3040718), Reason.INVALID),
    (message(lon="103.8318227"), Reason.INVALID),
    (message(lat=LON, lon=LAT), Reason.INVALID),
    (message(at=[LAT, LON]), Reason.INVALID),
    (message(member_id={"lat": LAT, "lon": LON}), Reason.INVALID),
    (message(90), Reason.IN_THE_FUTURE),
    (f"[{LAT}, {LON}]".encode(), Reason.INVALID),
    (f"{LAT} {LON}".encode(), Reason.UNDECODABLE),
    (message(member_id=" " + str(LAT) * 1000), Reason.UNDECODABLE),
    (b"", Reason.UNDECODABLE),
]


async def test_nothing_says_where_a_member_was(pool: Pool) -> None:
    """No row of any table, no log line, and nothing of what is set aside, good positions and bad ones."""
    topic = Topic()
    with capture_logs() as logs:
        await follower(pool, topic.publish).handle(records(message(), *(value for value, _ in GARBAGE)))
    aside = await QuarantineStore(pool, FixedClock(NOW)).list(ALL_HELD, limit=100)
    assert sorted(each.item.reason for each in aside) == sorted(reason for _, reason in GARBAGE)
    assert {each.item.stage for each in aside} == {Stage.POSITION}
    tables = await pool.fetch(
        "select oid::regclass::text from pg_class where relkind in ('r', 'v') and relnamespace = "
        "current_schema()::regnamespace"
    )
    kept = [await pool.fetch(f"select t::text from {table} as t") for (table,) in tables]  # names of tables
    for told in (kept, aside, logs, topic.events):
        assert "3040718" not in repr(told)
        assert "8318227" not in repr(told)


async def test_visits_are_forgotten_within_a_day(pool: Pool) -> None:
    seen_at = [NOW - KEPT + timedelta(minutes=minutes) for minutes in (-1, 9, 11)]
    written = [stay("bob", f"r{number}", at, at, inside=True) for number, at in enumerate(seen_at)]
    async with slices.at(pool, "bob") as connection:
        await keep_visits(connection, written)
    assert await VisitSweeper(pool, FixedClock(NOW)).sweep() == 2
    assert await visits(pool, "bob") == written[2:]


async def test_a_visit_that_is_being_written_holds_up_no_forgetting(pool: Pool) -> None:
    old = NOW - KEPT
    async with slices.at(pool, "bob") as connection:
        await keep_visits(connection, [stay("bob", f"r{number}", old, old, inside=True) for number in range(3)])
    async with slices.at(pool, "bob") as connection, connection.transaction():
        await keep_visits(connection, [stay("bob", "r1", old, NOW, inside=True)])
        assert await VisitSweeper(pool, FixedClock(NOW)).sweep() == 2
    assert await visits(pool, "bob") == [stay("bob", "r1", old, NOW, inside=True)]


async def test_the_state_of_things_tells_when_visits_are_kept_too_long(pool: Pool) -> None:
    assert STATUS.overdue is not None
    for old, late in ((timedelta(0), []), (timedelta(hours=1), ["positions"])):
        async with slices.at(pool, "bob") as connection:
            await keep_visits(connection, [stay("bob", f"old {old}", *[NOW - KEPT - old] * 2, inside=True)])
        assert [each.job for each in await STATUS.overdue(pool, NOW)] == late
