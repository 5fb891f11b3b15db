"""Upgrades start from nothing, the last one can be taken back, and what is history is never changed."""

import asyncio
import uuid
from typing import Final

import asyncpg
import pytest
from alembic import command

from abacus.core.errors import Refused
from abacus.platform import sandbox
from abacus.platform.migrations import alembic_config, current_revision, head_revision, make_sandbox, migrate
from abacus.platform.postgres import Pool
from tests.support.services import Services, database_address
from tests.support.slices import IN_A_SLICE, SLICES


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


NOT_HERE: Final = {
    "0001": "this ledger is at revision 0001, and migrations begin at 0045: migrate it with the last commit",
    "0044": "this ledger is at revision 0044, and migrations begin at 0045: migrate it with the last commit",
    "9999": "this ledger is at revision 9999, of a later version",
}


@pytest.mark.long
async def test_a_ledger_or_a_sandbox_at_a_revision_that_is_not_here_is_refused(database_url: str) -> None:
    await make_sandbox(database_url)
    connection = await asyncpg.connect(database_url)
    for versions in ("alembic_version", f"{sandbox.SCHEMA}.alembic_version"):
        for revision, told in NOT_HERE.items():
            await connection.execute(f"update {versions} set version_num = '{revision}'")
            with pytest.raises(Refused, match=told):
                await migrate(database_url)
        await connection.execute(f"update {versions} set version_num = '{head_revision()}'")
        assert await migrate(database_url) == (head_revision(), head_revision())
    await connection.close()


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
        "update journal_accounts set published_by = ''",
        "delete from journal_accounts",
        "truncate journal_accounts",
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
