"""Migrations and tables say the same; upgrades start from nothing; the last one can be taken back."""

import asyncio
import uuid
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

ROOMS: Final = (
    "engage.notify",
    "intake.partners",
    "ledger.store",
    "oversight.erasure",
    "oversight.reports",
    "people.store",
    "platform.presence",
    "platform.quarantine",
    "pricing.store",
    "programs.expiry",
    "programs.tiers",
)


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
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(statement)
    owner = await asyncpg.connect(database_url)
    try:
        with pytest.raises(asyncpg.RestrictViolationError, match="append-only"):
            await owner.execute(statement)
    finally:
        await owner.close()


async def test_an_address_as_asyncpg_takes_it(database_url: str) -> None:
    assert await migrate(f"{database_url}?sslmode=disable") == (head_revision(), head_revision())
