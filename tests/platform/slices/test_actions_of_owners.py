"""Migration 0056: actions of campaigns wait as before, in a whole ledger and in slices."""

import asyncio
from typing import Final

import asyncpg
import pytest
from alembic import command

from abacus.platform.migrations import HEAD, alembic_config, cut, migrate
from abacus.platform.slices.layout import SliceMap
from tests.support.old_database import database_at
from tests.support.services import Services
from tests.support.slices import tables_like

MEMBERS: Final = [f"m{number}" for number in range(12)]
WAITING: Final = """
insert into {schema}.campaign_action
    (member_id, key, number, campaign, version, step, kind, receiver, decided_at, due_at, document)
values ($1, 'k', 0, 'market', 2, 1, 'award', 'awards', now(), now(), '{{}}')
"""
OF_A_JOURNEY: Final = """
insert into {schema}.action
    (member_id, key, number, owner_kind, owner, version, step, kind, receiver, decided_at, due_at, document)
values ($1, 'j', 0, 'journey', 'market', 1, 1, 'tell', 'messages', now(), now(), '{{}}')
"""


@pytest.mark.long
@pytest.mark.parametrize("slice_map", [SliceMap(1), SliceMap(3)])
async def test_actions_of_campaigns_wait_as_before(services: Services, slice_map: SliceMap) -> None:
    """Actions of other kinds of owners go when the migration is taken back."""
    schema_of = {member: slice_map.schemas[slice_map.slice_of(member)] for member in MEMBERS}
    async with database_at(HEAD, services) as address:
        if slice_map.slices > 1:
            await cut(address, slice_map.slices)
        connection = await asyncpg.connect(address)
        made = (
            [await tables_like(connection, number) for number in range(slice_map.slices)]
            if slice_map.slices > 1
            else []
        )
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0055")
        for member, schema in schema_of.items():
            await connection.execute(WAITING.format(schema=schema), member)
        await migrate(address, "0056")
        rows = await connection.fetch("select member_id, owner_kind, owner, version, kind from action")
        assert sorted(map(tuple, rows)) == sorted((member, "campaign", "market", 2, "award") for member in MEMBERS)
        for member, schema in schema_of.items():
            await connection.execute(OF_A_JOURNEY.format(schema=schema), member)
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0055")
        rows = await connection.fetch("select member_id, key, campaign from campaign_action")
        assert sorted(map(tuple, rows)) == sorted((member, "k", "market") for member in MEMBERS)
        await migrate(address)
        for number, before in enumerate(made):
            assert await tables_like(connection, number) == before
        await connection.close()
