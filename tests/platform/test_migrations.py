"""Migrations and tables say the same; upgrades start from nothing; the last one can be taken back."""

import asyncio
import uuid
from datetime import date
from importlib import import_module
from typing import Final

import asyncpg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine

from abacus.platform.metadata import METADATA
from abacus.platform.migrations import alembic_config, current_revision, head_revision, migrate
from abacus.platform.postgres import Pool
from tests.support.services import Services, database_address
from tests.support.slices import IN_A_SLICE, SLICES

ROOMS: Final = (
    "signals.counters.store",
    "engage.notify",
    "signals.segments",
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
