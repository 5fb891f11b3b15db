"""Upgrades of ledgers that were cut into slices before: rows that lie in slices now go to those of their members."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from typing import Final, NamedTuple

import asyncpg
import pytest
from alembic import command

from abacus.core.errors import Refused, Unavailable
from abacus.platform.migrations import alembic_config, current_revision, cut, migrate
from abacus.platform.postgres import open_pool, passing_failures
from abacus.platform.slices import cut as cutting
from abacus.platform.slices.layout import Slicing
from abacus.platform.slices.migration_steps import REMEMBERED
from tests.support.services import Services, database_address
from tests.support.slices import tables_like
from tests.support.waiting import waiting

MARCH: Final = date(2027, 3, 31)


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
_AND_CAMPAIGNS: Final = _CutAt(
    "0042",
    (*_AND_TIERS.cut, "campaign_claim", "campaign_progress", "campaign_action"),
    (*_AND_TIERS.of_a_slice, "campaign_slot", "campaign_sum"),
    (*_AND_TIERS.guarded, "campaign_claim"),
)
_AND_BUDGETS: Final = _CutAt(
    "0043",
    (*_AND_CAMPAIGNS.cut, "allowance_member", "rejection"),
    (*_AND_CAMPAIGNS.of_a_slice, "allowance_part"),
    (*_AND_CAMPAIGNS.guarded, "rejection"),
)

_AND_WEBHOOKS: Final = _AND_BUDGETS._replace(revision="0044", cut=(*_AND_BUDGETS.cut, "webhook_delivery"))


_WITH_STEPS: Final = ("0041", "0042", "0043", "0044", "0045")


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


async def test_a_migration_that_is_interrupted_goes_on_with_the_slices_that_are_left(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes into the slices can be read meanwhile, and who would change it waits."""
    told: list[tuple[str, int, int]] = []

    def tell(revision: str, done: int, slices: int) -> None:
        told.append((revision, done, slices))

    async with _cut_before(services, monkeypatch, _LEDGERS_OWN) as (address, connection, fresh):
        await connection.execute(_ROWS_BEFORE)
        held = {table: await _rows(connection, table) for table in _MOVED}
        await connection.execute("create table slice_1.notice ()")
        with pytest.raises(Refused, match='relation "notice" already exists'):
            await migrate(address, told=tell)
        assert told == [("0041", 0, 3), ("0041", 1, 3)]
        assert await current_revision(address) == "0040"
        assert await connection.fetchval("select count(*) from slice_0.account_tier") > 0
        assert await connection.fetchval("select to_regclass('slice_1.account_tier')") is None
        assert {table: await _rows(connection, table) for table in _MOVED} == held
        with pytest.raises(Unavailable, match="goes into the slices; `abacus migrate` has not come to its end"):
            async with passing_failures():
                await connection.execute("update account_tier set tier = 'gold'")
        await connection.execute("drop table slice_1.notice")
        told.clear()
        await migrate(address, told=tell)
        assert told[:3] == [("0041", 1, 3), ("0041", 2, 3), ("0041", 3, 3)]
        assert told[3:] == [(revision, done, 3) for revision in _WITH_STEPS[1:] for done in range(4)]
        for table in _OF_MEMBERS:
            assert await _rows(connection, table) == held[table]
        assert await connection.fetch("select from slice_step") == []
        for number in range(3):
            assert await tables_like(connection, number) == await tables_like(fresh, number)


async def test_while_one_slice_is_migrated_the_others_are_posted_to(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _cut_before(services, monkeypatch, _LEDGERS_OWN) as (address, connection, _):
        for statement in REMEMBERED:
            await connection.execute(statement)
        pool = await open_pool(address, size=1, role=None)
        async with asyncio.timeout(60):
            blocking = connection.transaction()
            await blocking.start()
            await connection.execute("insert into slice_step values (1, 'of somebody else')")
            migrating = asyncio.create_task(migrate(address))
            await waiting(pool, migrating)
            for number in (0, 2):
                member = next(member for member in _MEMBERS if Slicing(3).slice_of(member) == number)
                await pool.execute(
                    f"insert into slice_{number}.account (member_id, program, country) values ($1, 'GRP', 'SG')", member
                )
            await blocking.rollback()
            await migrating
        await pool.close()
        assert await connection.fetchval("select count(*) from account") == 2


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
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0041")
        assert await connection.fetch("select campaign, runs, points, cost from campaign_pot") == [("x", 7, 70, 700)]
        assert await connection.fetch("select from campaign_slot") == []
        assert await connection.fetch("select events, points, cost from campaign_sum") == [(60, 600, 6000)]
        assert await _rows(connection, "campaign_claim") == held["campaign_claim"]
        await migrate(address)


async def test_budgets_of_a_ledger_that_was_cut_before_are_shared_out(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each slice has what its members got, and nobody has anything in hand. Of rejections, those whose messages are not
    entered yet are entered afterwards.
    """
    async with _cut_before(services, monkeypatch, _AND_CAMPAIGNS) as (address, connection, fresh):
        await connection.execute(_BUDGETS_BEFORE)
        held = {table: await _rows(connection, table) for table in ("allowance", "allowance_member")}
        rejected = await connection.fetch("select key, member_id from rejection order by key")
        await migrate(address)
        await _all_lie_with_their_members(connection, ("rejection",))
        used = [0, 0, 0]
        for number in range(3):
            assert await tables_like(connection, number) == await tables_like(fresh, number)
            here = [place for place, member in enumerate(_MEMBERS) if Slicing(3).slice_of(member) == number]
            part = await connection.fetchrow(f"select * from slice_{number}.allowance_part where partner_id = 'acme'")
            assert part["used_that_day"] == 10 * len(here)
            assert (part["used"] + part["elsewhere"], part["used_that_day"] + part["elsewhere_that_day"]) == (1000, 320)
            used[number] = part["used"]
            assert await connection.fetchval(f"select count(*) from slice_{number}.allowance_member") == 2 * len(here)
            told = await connection.fetchval(
                "select count(*) from rejection r join webhook_cursor c on c.source = 'rejection slice_' || $1::text"
                f" where (r.xid, r.key) <= (c.xid, c.key) and abacus_slice_of(member_id, 3) = {number}",
                str(number),
            )
            assert told == sum(place < 20 for place in here)
        assert sum(used) == 555, "less was used than members got: some was given back on a later day"
        others = await connection.fetch("select used, elsewhere from allowance_part where partner_id = 'bits'")
        assert [tuple(row) for row in others] == [(0, 0)] * 3
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0042")
        assert {table: await _rows(connection, table) for table in held} == held
        assert await connection.fetch("select key, member_id from rejection order by key") == rejected
        assert await connection.fetchval(_NOT_TOLD) == 10
        await migrate(address)
        assert await connection.fetchval("select sum(used) from allowance_part") == 555


async def test_messages_to_partners_of_a_ledger_that_was_cut_before_go_to_their_members(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One about somebody who was erased names nobody; its id stays, so that it is not told again."""
    async with _cut_before(services, monkeypatch, _AND_BUDGETS) as (address, connection, fresh):
        await connection.execute(_MESSAGES_BEFORE)
        held = await _rows(connection, "webhook_delivery")
        await migrate(address)
        assert await connection.fetchval("select message_id from webhook_delivery where member_id = ''") == "erased"
        for number in range(3):
            assert await tables_like(connection, number) == await tables_like(fresh, number)
            rows = await connection.fetch(f"select distinct member_id from slice_{number}.webhook_delivery")
            assert {Slicing(3).slice_of(row["member_id"]) for row in rows} == {number}
        assert await connection.fetchval("select count(distinct member_id) from webhook_delivery") == 31
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0043")
        assert await _rows(connection, "webhook_delivery") == held
        await migrate(address)


async def test_counters_of_a_ledger_that_was_cut_before_go_to_the_slices_of_their_keys(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In partitions like those before, which live as long."""
    async with _cut_before(services, monkeypatch, _AND_WEBHOOKS) as (address, connection, fresh):
        await connection.execute(_COUNTERS_BEFORE)
        held = {table: await _rows(connection, table) for table in ("counter_row", "counter_partition")}
        await migrate(address)
        assert await _rows(connection, "counter_row") == held["counter_row"]
        for number in range(3):
            assert await tables_like(connection, number) == await tables_like(fresh, number)
            assert await _rows(connection, f"slice_{number}.counter_partition") == held["counter_partition"]
            keys = {row["key"] for row in await connection.fetch(f"select key from slice_{number}.counter_row")}
            assert keys
            assert {Slicing(3).slice_of(key) for key in keys} == {number}
        for number, until in ((0, 5_000), (2, 7_000)):
            await connection.execute("select counter_partition_keep(0, 96, $1, $2)", until, number)
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0044")
        assert await _rows(connection, "counter_row") == held["counter_row"]
        assert await connection.fetchval("select until from counter_partition where first = 0") == 7_000
        await connection.execute("select counter_partition_keep(960, 1056, 9000)")
        assert await connection.fetchval("select counter_partition_drop(0, 8000)")
        await migrate(address)
        assert await connection.fetch("select distinct first, next, until from counter_partition order by first") == [
            (96, 192, 2_000),
            (960, 1056, 9_000),
        ]


_COUNTERS_BEFORE: Final = """
select counter_partition_keep(0, 96, 1000), counter_partition_keep(96, 192, 2000);
insert into counter_row select 'k' || n, n * 4, 1, n, n from generate_series(0, 29) n;
insert into counter_row select 'k' || n, n * 4, 2, n, n from generate_series(0, 29) n;
"""
_MESSAGES_BEFORE: Final = """
insert into webhook_delivery (message_id, partner_id, type, body, created_at, due_at, retry_until)
select 'msg_' || n, 'acme', 'award.posted', '{"data": {"member_id": "m' || n || '"}}', now(), now(), now()
    from generate_series(0, 29) n
union all select 'erased', 'acme', 'award.posted', '{}', now(), now(), now()
"""

_NOT_TOLD: Final = """
select count(*) from rejection r join webhook_cursor c on c.source = 'rejection' where (r.xid, r.key) > (c.xid, c.key)
"""
_BUDGETS_BEFORE: Final = """
insert into allowance values ('acme', null, null, 320, 1000, 555, '2026-06-02', 300);
insert into allowance (partner_id) values ('bits');
insert into allowance_member select 'm' || n, 'acme', day, 10
    from generate_series(0, 29) n, (values (date '2026-06-01'), ('2026-06-02')) d (day);
insert into rejection select 'k' || lpad(n::text, 2, '0'), 'm' || n, 'GRP', 5, '', 'award-cap-exceeded', '', now(),
    (100 + n / 10)::text::xid8 from generate_series(0, 29) n;
insert into webhook_cursor values ('rejection', '101', 'k19', now());
"""

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
