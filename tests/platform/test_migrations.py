"""Migrations and tables say the same; upgrades start from nothing; the last one can be taken back."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from importlib import import_module
from typing import Final, NamedTuple

import asyncpg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine

from abacus.platform import cutting
from abacus.platform.metadata import METADATA
from abacus.platform.migrations import alembic_config, current_revision, cut, head_revision, migrate
from abacus.platform.postgres import Pool
from abacus.platform.slicing import Slicing
from tests.support.services import Services, database_address
from tests.support.slices import IN_A_SLICE, SLICES, tables_like

ROOMS: Final = (
    "engage.counters.store",
    "engage.notify",
    "engage.segments",
    "intake.partners",
    "ledger.store",
    "oversight.closing",
    "oversight.erasure",
    "oversight.reports",
    "people.store",
    "platform.presence",
    "platform.quarantine",
    "pricing.store",
    "programs.expiry",
    "programs.tiers",
)

MARCH, OCTOBER = date(2027, 3, 31), date(2026, 10, 31)


@pytest.mark.skipif(SLICES > 1, reason="the migrations make the tables of a ledger that is not cut")
async def test_no_drift_between_tables_and_migrations(database_url: str) -> None:
    """Compared as by `alembic check`. Tables register themselves when the modules of their rooms are loaded."""
    for room in ROOMS:
        import_module(f"abacus.{room}.tables")

    def drift(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, METADATA))

    engine = create_async_engine(database_url.replace("postgresql://", "postgresql+asyncpg://"))
    async with engine.connect() as connection:
        assert await connection.run_sync(drift) == []
    await engine.dispose()


async def test_up_from_nothing_down_one_and_up_again(services: Services) -> None:
    name = f"abacus_empty_{uuid.uuid4().hex[:8]}"
    administrator = await asyncpg.connect(services.database_url)
    await administrator.execute(f"create database {name}")
    url = database_address(services, name)
    try:
        assert await migrate(url) == (None, head_revision())
        assert await migrate(url) == (head_revision(), head_revision())
        await asyncio.to_thread(command.downgrade, alembic_config(url), "-1")
        assert await current_revision(url) != head_revision()
        await migrate(url)
        assert await current_revision(url) == head_revision()
    finally:
        await administrator.execute(f"drop database {name} with (force)")
        await administrator.close()


# A member, how the account lapsed, and its transfers: points and the day that each named.
BEFORE: Final[dict[str, tuple[bool, list[tuple[int, date | None]]]]] = {
    "late": (False, [(100, MARCH), (-100, None), (500, OCTOBER)]),
    "emptied": (False, [(100, MARCH), (-100, None)]),
    "active": (False, [(100, OCTOBER), (10, MARCH), (-5, MARCH)]),
    "by lots": (True, [(100, MARCH), (500, OCTOBER)]),
    "nothing": (False, [(0, None)]),
}


async def test_accounts_get_back_the_day_that_they_forgot(services: Services) -> None:
    """A late transaction brought an earlier day into an account that had been emptied; its transfer stays as it is."""
    name = f"abacus_days_{uuid.uuid4().hex[:8]}"
    administrator = await asyncpg.connect(services.database_url)
    await administrator.execute(f"create database {name}")
    url = database_address(services, name)
    try:
        await migrate(url)
        await asyncio.to_thread(command.downgrade, alembic_config(url), "0019-1")
        connection = await asyncpg.connect(url)
        for member, (lifetime, moves) in BEFORE.items():
            for seq, (points, day) in enumerate(moves, 1):
                await connection.execute(
                    "insert into transfer (member_id, program, seq, kind, points, balance_after, key, country,"
                    " occurred_at, posted_at, expires_on, explanation, hash)"
                    " values ($1, 'GRP', $2, 'earn', $3, 0, $4, 'SG', now(), now(), $5, '{}', '')",
                    *(member, seq, points, f"{member}-{seq}", day),
                )
            await connection.execute(
                "insert into account (member_id, program, country, balance, expires_on, last_seq, lifetime)"
                " values ($1, 'GRP', 'SG', $2, $3, $4, $5)",
                *(member, sum(points for points, _ in moves), moves[-1][1], len(moves), lifetime),
            )
        await migrate(url)
        rows = await connection.fetch("select member_id, expires_on, active_until from account")
        days = await connection.fetch("select expires_on from transfer where member_id = 'late' order by seq")
        await connection.close()
    finally:
        await administrator.execute(f"drop database {name} with (force)")
        await administrator.close()
    assert {row[0]: (row[1], row[2]) for row in rows} == {
        "late": (MARCH, MARCH),
        "emptied": (None, MARCH),
        "active": (MARCH, MARCH),
        "by lots": (OCTOBER, MARCH),
        "nothing": (None, None),
    }
    assert [row[0] for row in days] == [MARCH, None, OCTOBER]


class _CutAt(NamedTuple):
    """What a ledger in slices had of its own in them at that revision."""

    revision: str
    cut: tuple[str, ...]
    of_a_slice: tuple[str, ...]
    guarded: tuple[str, ...]


_LEDGERS_OWN: Final = _CutAt(
    "0040", ("account", "transfer", "claim", "draw", "hold", "sealed_leaf"), ("relay_cursor",), ("account",)
)
_AND_TIERS: Final = _CutAt(
    "0041",
    (
        *(*_LEDGERS_OWN.cut, "account_tier", "tier_tally", "tier_change", "membership"),
        *("notice", "notification", "notification_preference"),
    ),
    ("relay_cursor", "tier_calendar", "tier_roll"),
    ("account", "account_tier", "membership", "notice", "notification_preference"),
)


@asynccontextmanager
async def _cut_before(
    services: Services, monkeypatch: pytest.MonkeyPatch, as_at: _CutAt
) -> AsyncIterator[tuple[str, asyncpg.Connection, asyncpg.Connection]]:
    """A ledger that was cut into three at that revision, with its address, and one that is cut by this version."""
    names = [f"abacus_{cut_at}_{uuid.uuid4().hex[:8]}" for cut_at in ("before", "now")]
    administrator = await asyncpg.connect(services.database_url)
    for name in names:
        await administrator.execute(f"create database {name}")
    before, now = (database_address(services, name) for name in names)
    try:
        await migrate(now)
        await cut(now, 3)
        await migrate(before, as_at.revision)
        with monkeypatch.context() as as_then:
            as_then.setattr(cutting, "CUT", as_at.cut)
            as_then.setattr(cutting, "OF_A_SLICE", as_at.of_a_slice)
            as_then.setattr(cutting, "GUARDED", as_at.guarded)
            await cut(before, 3)
        connection, fresh = await asyncpg.connect(before), await asyncpg.connect(now)
        yield before, connection, fresh
        await connection.close()
        await fresh.close()
    finally:
        for name in names:
            await administrator.execute(f"drop database {name} with (force)")
        await administrator.close()


_MEMBERS: Final = [f"m{number}" for number in range(30)]


async def _all_lie_with_their_members(connection: asyncpg.Connection, tables: Sequence[str]) -> None:
    for number in range(3):
        here = [member for member in _MEMBERS if Slicing(3).slice_of(member) == number]
        for table in tables:
            rows = await connection.fetch(f"select member_id from slice_{number}.{table} order by 1")
            assert [row[0] for row in rows] == sorted(here)


async def test_tiers_and_messages_of_a_ledger_that_was_cut_before_go_to_their_members(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _cut_before(services, monkeypatch, _LEDGERS_OWN) as (address, connection, _):
        await connection.execute(_ROWS_BEFORE)
        held = {table: await _rows(connection, table) for table in _MOVED}
        await migrate(address, "0041")
        await _all_lie_with_their_members(connection, _OF_MEMBERS)
        for number in range(3):
            assert await connection.fetchval(f"select rolled_through from slice_{number}.tier_calendar") == MARCH
        assert await _rows(connection, "account_tier") == held["account_tier"]
        await asyncio.to_thread(command.downgrade, alembic_config(address), "-1")
        assert {table: await _rows(connection, table) for table in _MOVED} == held
        await connection.execute("update account_tier set tier = 'gold'")
        await migrate(address)
        assert await connection.fetchval("select count(*) from account_tier where tier = 'gold'") == 30


async def test_campaigns_of_a_ledger_that_was_cut_before_go_to_their_members(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What processes had in their hands goes back to the pots."""
    async with _cut_before(services, monkeypatch, _AND_TIERS) as (address, connection, fresh):
        await connection.execute(_CAMPAIGNS_BEFORE)
        held = {table: await _rows(connection, table) for table in _OF_CAMPAIGNS}
        await migrate(address)
        await _all_lie_with_their_members(connection, ("campaign_claim", "campaign_progress", "campaign_action"))
        for number in range(3):
            assert await tables_like(connection, number) == await tables_like(fresh, number)
        assert {table: await _rows(connection, table) for table in _OF_CAMPAIGNS} == held
        assert await connection.fetch("select campaign, runs, points, cost from campaign_pot") == [("x", 7, 70, 700)]
        assert await connection.fetch("select from campaign_slot") == []
        await connection.execute("update campaign_pot set runs = 9, points = 90, cost = 900")
        for number in range(2):
            await connection.execute(f"insert into slice_{number}.campaign_slot values ('x', '', 1, 1, 1, 10, 100)")
            await connection.execute(
                f"insert into slice_{number}.campaign_sum select * from slice_0.campaign_sum on conflict do nothing"
            )
        await asyncio.to_thread(command.downgrade, alembic_config(address), "-1")
        assert await connection.fetch("select campaign, runs, points, cost from campaign_pot") == [("x", 7, 70, 700)]
        assert await connection.fetch("select from campaign_slot") == []
        assert await connection.fetch("select events, points, cost from campaign_sum") == [(60, 600, 6000)]
        assert await _rows(connection, "campaign_claim") == held["campaign_claim"]
        await migrate(address)


_CAMPAIGNS_BEFORE: Final = """
insert into campaign_claim select 'k' || n, 'm' || n, 'x', 1, now() from generate_series(0, 29) n;
insert into campaign_progress select member_id, 'x', '', 1, 1, 10, 100, '', 'a' from campaign_claim;
insert into campaign_action (member_id, key, number, campaign, version, step, kind, receiver, decided_at,
        due_at, document)
    select member_id, key, 0, 'x', 1, 1, 'award', 'awards', now(), now(), '{}' from campaign_claim;
insert into campaign_sum values ('x', 1, '2026-03-01', '', 'done', 1, 30, 300, 3000);
insert into campaign_pot values ('x', '', 10, 100, 1000);
insert into campaign_slot values ('x', '', 1, 1, 2, 20, 200), ('x', '', 2, 1, 1, 10, 100);
"""
_OF_CAMPAIGNS: Final = ("campaign_claim", "campaign_progress", "campaign_action", "campaign_sum")

_OF_MEMBERS: Final = (
    *("account_tier", "membership", "tier_change", "tier_tally"),
    *("notice", "notification", "notification_preference"),
)
_MOVED: Final = (*_OF_MEMBERS, "tier_calendar", "tier_roll")
_ROWS_BEFORE: Final = """
insert into account_tier (member_id, program, tier) select 'm' || n, 'GRP', 'silver' from generate_series(0, 29) n;
insert into membership select member_id, 'GRP', 'gold', 'a wedding', 'jane', now() from account_tier;
insert into tier_tally select member_id, 'GRP', '2026-01-01', '2026-06-30', '2026-12-31', 300, 'silver', 300
    from account_tier;
insert into tier_change (member_id, program, n, from_tier, to_tier, reason, changed_at)
    select member_id, 'GRP', 1, 'member', 'silver', 'upgrade', now() from account_tier;
insert into notice (member_id, event_id, happened_at, seq, part, due_at)
    select member_id, 'e', now(), 1, '{}', now() from account_tier;
insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at)
    select member_id, 'm', 'log', 'en', '[]', now(), now() from account_tier;
insert into notification_preference (member_id, locale, set_by, set_at)
    select member_id, 'id', 'acme', now() from account_tier;
insert into tier_calendar values ('SG', '2027-03-31');
insert into tier_roll (country, through, found, stepped_down, started_at, finished_at)
    values ('SG', '2026-12-31', 7, 7, now(), now()), ('SG', '2027-03-31', 9, 4, now(), null);
"""


async def _rows(connection: asyncpg.Connection, table: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, await connection.fetch(f"select * from {table}")), key=str)


@pytest.mark.parametrize(
    "statement",
    [
        "update transfer set points = points",
        "delete from transfer",
        "truncate transfer",
        "update claim set fingerprint = ''",
        "delete from claim",
        "truncate claim",
        "update rate_card set published_by = ''",
        "delete from rate_card",
        "truncate rate_card",
        "update event_source set published_by = ''",
        "delete from event_source",
        "truncate event_source",
        "update counter_definition set published_by = ''",
        "delete from counter_definition",
        "truncate counter_definition",
        "update counter_retirement set reason = ''",
        "delete from counter_retirement",
        "truncate counter_retirement",
        "update campaign set document = '{}'",
        "delete from campaign",
        "truncate campaign",
        "update segment_version set size = 0",
        "truncate segment_version",
        "update member_number set number = 0",
        "truncate member_number",
        "update member_number_erased set number = 0",
        "delete from member_number_erased",
        "truncate member_number_erased",
        "update rejection set reason = ''",
        "delete from rejection",
        "update seal set root = ''",
        "delete from seal",
        "update sealed_leaf set leaf = ''",
        "delete from sealed_leaf",
        "update erasure set reason = ''",
        "delete from erasure",
        "update assumption set reason = ''",
        "delete from assumption",
        "update month_close set signed_by = ''",
        "delete from month_close",
        "truncate rejection",
        "update draw set points = 0",
        "delete from draw",
        "truncate draw",
        "update audit_log set subject = ''",
        "delete from audit_log",
        "truncate audit_log",
    ],
)
async def test_history_cannot_be_changed(statement: str, pool: Pool, database_url: str) -> None:
    async with pool.acquire(schema="slice_0" if SLICES > 1 else None) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    owner = await asyncpg.connect(database_url, server_settings=IN_A_SLICE)
    try:
        with pytest.raises(asyncpg.RestrictViolationError, match="append-only"):
            await owner.execute(statement)
    finally:
        await owner.close()


async def test_an_address_as_asyncpg_takes_it(database_url: str) -> None:
    assert await migrate(f"{database_url}?sslmode=disable") == (head_revision(), head_revision())
