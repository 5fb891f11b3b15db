"""Rows whose time is over go, and nothing is done twice afterwards; sizes are noted once a day; one process does it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, Final

import pytest
from prometheus_client import REGISTRY

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.engage.campaigns.effects import Effects
from abacus.oversight.growth import sizes
from abacus.oversight.growth.caretaker import SIZES_KEPT, Caretaker
from abacus.oversight.growth.metrics import ROWS_SWEPT
from abacus.oversight.growth.types import DATABASE, Group
from abacus.oversight.growth.wiring import lives_of
from abacus.platform import slices
from abacus.platform.delivery.deliverer import Periodic
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from abacus.platform.retention.life import Life
from abacus.platform.settings import Settings
from tests.engage.campaigns.offers import NOW as DECIDED
from tests.engage.campaigns.offers import campaign, decide, matched, order
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.slices import SLICES, neighbour

NOW: Final = SystemClock().now()
OLD, YOUNG = NOW - timedelta(days=500), NOW - timedelta(days=30)
BOB: Final = neighbour("bob")

_ACTION: Final = f"""
insert into action (member_id, key, number, owner_kind, owner, version, step, kind, receiver, decided_at, due_at,
    document, done_at, refused_at)
values ('{BOB}', $1, 1, 'campaign', 'market', 1, 1, $2, 'messages', $3, $3, '{{}}', $4, $5)
"""
_PROGRESS: Final = f"""
insert into campaign_progress (member_id, campaign, scope, events, runs, points, cost, marks)
values ('{BOB}', 'market', $1, 1, 1, 1, 1, '')
"""
_SEAT: Final = f"""
insert into seat (member_id, journey, visit, member, version, key, country, entered_at, since, left_at, why)
values ('{BOB}', 'welcome', $1, 7, 1, $2, 'SG', $3, $3, $4, $5)
"""
_TRAIL: Final = """
insert into journey_trail (journey, at, id, version, node, turn, path, members, visits, woken)
values ('welcome', $1, $2, 1, 1, 1, '{1}', '{7}', $3, 'time')
"""
_MESSAGE: Final = f"""
insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at, sent_at, parked_at)
values ('{BOB}', $1, 'log', 'en', '[]', $2, $2, $3, $4)
"""
_DELIVERY: Final = f"""
insert into webhook_delivery (message_id, partner_id, member_id, type, body, created_at, due_at, retry_until,
    delivered_at, given_up_at)
values ($1, 'acme', '{BOB}', 'award.posted', '{{}}', $2, $2, $2, $3, $4)
"""
_QUARANTINED: Final = """
insert into quarantine (id, stage, origin, reason, detail, body, status, set_aside_at, replayed_at, replays)
values ($1, 'transaction', 't', 'invalid', '', '', $2, $3, $4, $5)
"""
_PARTITION: Final = "select counter_partition_keep(0, 96, 9999999999, $1)"
_TALLIED: Final = "select (select count(*) from quarantine) = (select sum(items) from quarantine_tally)"


def caretaker(pool: Pool, *, disk: int | None = None, at: FixedClock | None = None) -> Caretaker:
    clock = at or FixedClock(NOW)
    kept = timedelta(days=400)
    return Caretaker(pool, clock, lives_of(Settings()), replayed_kept=kept, disk=disk, pause_s=0.0)


async def nothing() -> None:
    """Sizes are not looked at meanwhile."""


async def swept(pool: Pool) -> None:
    await caretaker(pool).sweep_if_due(Periodic(nothing, 1e9))


async def put(pool: Pool, statement: str, *rows: Sequence[Any]) -> None:
    async with slices.at(pool, BOB) as connection:
        for row in rows:
            await connection.execute(statement, *row)


async def left(pool: Pool, statement: str) -> set[Any]:
    return {row[0] for row in await slices.rows(pool, (statement,))}


async def test_deeds_that_are_over_go_and_awards_and_what_waits_stay(pool: Pool) -> None:
    await put(
        pool,
        _ACTION,
        ("told long ago", "tell", OLD, OLD, None),
        ("refused long ago", "call", OLD, None, OLD),
        ("told lately", "tell", YOUNG, YOUNG, None),
        ("decided long ago, done lately", "tell", OLD, YOUNG, None),
        ("waits", "tell", OLD, None, None),
        ("award", "award", OLD, OLD, None),
        ("award that was refused", "award", OLD, None, OLD),
    )
    before = total(ROWS_SWEPT, table="action")
    await swept(pool)
    assert await left(pool, "select key from action") == {
        "told lately",
        "decided long ago, done lately",
        "waits",
        "award",
        "award that was refused",
    }
    assert total(ROWS_SWEPT, table="action") - before == 2


async def test_an_event_whose_deed_is_gone_is_not_decided_again(pool: Pool) -> None:
    effects = Effects(pool, FixedClock(DECIDED), slot=1)
    event = matched(campaign(steps=[{"at": 1, "do": [{"tell": {"en": "Hi\nThank you"}}]}]), order(1))
    assert [str(run.outcome) for run in await decide(effects, [event])] == ["done"]
    for each in await slices.slices_of(pool):
        async with each.at() as connection:
            await connection.execute("update action set done_at = now()")
    later = FixedClock(max(DECIDED, NOW) + timedelta(days=401))
    await caretaker(pool, at=later).sweep_if_due(Periodic(nothing, 1e9))
    assert await left(pool, "select key from action") == set()
    assert await decide(effects, [event]) == []
    assert await left(pool, "select key from action") == set()


async def test_progress_of_past_days_weeks_and_months_goes(pool: Pool) -> None:
    gone, stays = NOW - timedelta(days=440), NOW - timedelta(days=399)
    scopes = [f"{each:{form}}" for each in (gone, stays, NOW) for form in ("%Y-%m-%d", "%G-W%V", "%Y-%m")]
    await put(pool, _PROGRESS, *[[scope] for scope in ("", *scopes)])
    await swept(pool)
    assert await left(pool, "select scope from campaign_progress") == {"", *scopes[3:]}


async def test_a_way_goes_once_all_who_went_it_have_left(pool: Pool) -> None:
    await put(
        pool,
        _SEAT,
        (1, "left long ago", OLD, OLD, "end"),
        (2, "inside", OLD, None, None),
        (3, "left lately", OLD, YOUNG, "end"),
    )
    await put(pool, _TRAIL, (OLD, 1, [1]), (OLD, 2, [2]), (OLD, 3, [3]), (YOUNG, 4, [1]))
    await put(pool, _TRAIL.replace("'{7}'", "'{7,7}'"), (OLD, 5, [1, 2]))
    await swept(pool)
    assert await left(pool, "select id from journey_trail") == {2, 3, 4, 5}
    assert await left(pool, "select visit from seat") == {1, 2, 3}


async def test_messages_that_were_given_up_go_and_those_that_wait_stay(pool: Pool) -> None:
    await put(pool, _MESSAGE, ("waits", OLD, None, None), ("parked", OLD, None, OLD), ("lately", OLD, None, YOUNG))
    await put(
        pool,
        _DELIVERY,
        ("waits", OLD, None, None),
        ("given up", OLD, None, OLD),
        ("lately", OLD, None, YOUNG),
        ("delivered", OLD, YOUNG, None),
    )
    await swept(pool)
    assert await left(pool, "select message_id from notification") == {"waits", "lately"}
    assert await left(pool, "select message_id from webhook_delivery") == {"waits", "lately", "delivered"}


async def test_replayed_items_go_and_held_ones_stay(pool: Pool) -> None:
    for row in (
        ("held", "held", OLD, None, 0),
        ("came back", "held", OLD, OLD, 1),
        ("replayed", "replayed", OLD, OLD, 1),
        ("lately", "replayed", OLD, YOUNG, 1),
    ):
        await pool.execute(_QUARANTINED, *row)
    await swept(pool)
    there = {row[0] for row in await pool.fetch("select id from quarantine")}
    assert there == {"held", "came back", "lately"}
    assert await pool.fetchval(_TALLIED)


async def test_the_database_lets_nobody_forget_held_or_young_items(pool: Pool) -> None:
    await pool.execute(_QUARANTINED, "held", "held", OLD, None, 0)
    await pool.execute(_QUARANTINED, "lately", "replayed", OLD, YOUNG, 1)
    assert await pool.fetchval("select abacus_forget_replayed(now() + interval '9 years', 1000)") == 0


async def test_a_sweep_comes_once_a_day(pool: Pool) -> None:
    clock = FixedClock(NOW)
    care = caretaker(pool, at=clock)
    await care.sweep_if_due(Periodic(nothing, 1e9))
    await put(pool, _MESSAGE, ("parked", OLD, None, OLD))
    await care.sweep_if_due(Periodic(nothing, 1e9))
    assert await left(pool, "select message_id from notification") == {"parked"}
    clock.set(NOW + timedelta(days=1))
    await care.sweep_if_due(Periodic(nothing, 1e9))
    assert await left(pool, "select message_id from notification") == set()


async def test_a_sweep_that_failed_comes_again_in_an_hour(pool: Pool) -> None:
    clock = FixedClock(NOW)
    broken = Life("no_such_table", "at < :before", timedelta(days=400))
    lives = [*lives_of(Settings()), broken]
    care = Caretaker(pool, clock, lives, replayed_kept=timedelta(days=400), disk=None, pause_s=0.0)
    with pytest.raises(Unavailable):
        await care.sweep_if_due(Periodic(nothing, 1e9))
    await care.sweep_if_due(Periodic(nothing, 1e9))
    clock.set(NOW + timedelta(hours=1))
    with pytest.raises(Unavailable):
        await care.sweep_if_due(Periodic(nothing, 1e9))


async def test_sizes_are_noted_once_a_day_and_for_400_days(pool: Pool) -> None:
    today = NOW.date()
    async with pool.acquire() as connection:
        await connection.execute("insert into size_of_day values ($1, '', 1)", today - SIZES_KEPT)
        await connection.execute("insert into size_of_day values ($1, '', 1)", today - SIZES_KEPT - timedelta(days=1))
        await connection.execute("insert into size_of_day values ($1, '', 1)", today - timedelta(days=10))
        await connection.execute(_PARTITION, 0 if SLICES > 1 else None)
        await caretaker(pool, disk=10**15).measure(connection)
        first = await sizes.noted_since(connection, today)
        await caretaker(pool).measure(connection)
        assert await sizes.noted_since(connection, today) == first
        days: set[date] = {row["day"] for row in await connection.fetch("select distinct day from size_of_day")}
    assert days == {today - SIZES_KEPT, today - timedelta(days=10), today}
    noted = {each.of_table: each.bytes for each in first}
    assert noted[DATABASE] > noted["transfer"] > 0
    assert "counter_row" in noted
    assert not [name for name in noted if name.startswith("counter_row_")], "partitions are of their table"
    assert (REGISTRY.get_sample_value("abacus_database_bytes", {"tables": Group.LEDGER}) or 0) >= noted["transfer"]


@pytest.mark.parametrize(("disk", "is_known"), [(None, False), (10**10, True)])
async def test_the_time_until_the_disk_is_full_is_told_where_its_size_is(
    pool: Pool, disk: int | None, *, is_known: bool
) -> None:
    async with pool.acquire() as connection:
        await connection.execute("insert into size_of_day values ($1, '', 1)", NOW.date() - timedelta(days=10))
        await caretaker(pool, disk=disk).measure(connection)
    assert ((REGISTRY.get_sample_value("abacus_database_full_in_seconds") or 0) < float("inf")) is is_known


async def test_one_process_takes_care(pool: Pool) -> None:
    """The one that comes second takes over when the first ends."""
    clock = FixedClock(NOW)
    first = asyncio.create_task(caretaker(pool, at=clock).keep(after_s=0.0, stands_by_s=0.01))
    await until_noted(pool, NOW.date())
    later = FixedClock(NOW + timedelta(days=3))
    second = asyncio.create_task(caretaker(pool, at=later).keep(after_s=0.0, stands_by_s=0.01))
    await asyncio.sleep(0.3)
    assert await noted_days(pool) == {NOW.date()}
    await ended(first)
    await until_noted(pool, later.now().date())
    await ended(second)


async def until_noted(pool: Pool, day: date) -> None:
    async def is_noted() -> bool:
        return day in await noted_days(pool)

    await until(is_noted)


async def noted_days(pool: Pool) -> set[date]:
    return {row["day"] for row in await pool.fetch("select distinct day from size_of_day")}


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
