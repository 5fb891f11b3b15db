"""Migration 0055: what campaigns handed out of their limits stays handed out, in a whole ledger and in slices."""

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

POTS: Final = "insert into campaign_pot values ('x', '', 10, 100, 1000), ('x', '2026-01-10', 3, 3, 3)"
SLOT: Final = "insert into {schema}.campaign_slot values ('x', '', 1, 2, 4, 40, 400)"
OF_AN_OFFER: Final = """
insert into limit_pot (owner_kind, owner, period, runs, points, cost) values ('offer', 'x', '', 5, 50, 500)
"""
SLOT_OF_AN_OFFER: Final = """
insert into {schema}.limit_slot (owner_kind, owner, period, slot, version, runs, points, cost)
values ('offer', 'x', '', 1, 1, 2, 20, 200)
"""


@pytest.mark.long
@pytest.mark.parametrize("slice_map", [SliceMap(1), SliceMap(3)])
async def test_what_was_handed_out_stays_handed_out(services: Services, slice_map: SliceMap) -> None:
    """Limits of other kinds of owners go when the migration is taken back."""
    slices = slice_map.slices
    async with database_at(HEAD, services) as address:
        if slice_map.slices > 1:
            await cut(address, slices)
        connection = await asyncpg.connect(address)
        made = [await tables_like(connection, number) for number in range(slices)] if slice_map.slices > 1 else []
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0054")
        await connection.execute(POTS)
        for schema in slice_map.schemas:
            await connection.execute(SLOT.format(schema=schema))
        await migrate(address, "0055")
        pots = await connection.fetch("select owner_kind, owner, period, runs, points, cost from limit_pot order by 3")
        assert pots == [("campaign", "x", "", 10, 100, 1000), ("campaign", "x", "2026-01-10", 3, 3, 3)]
        slots = await connection.fetch("select owner_kind, owner, period, slot, version, runs from limit_slot")
        assert slots == [("campaign", "x", "", 1, 2, 4)] * slices
        await connection.execute(OF_AN_OFFER)
        for schema in slice_map.schemas:
            await connection.execute(SLOT_OF_AN_OFFER.format(schema=schema))
        await asyncio.to_thread(command.downgrade, alembic_config(address), "0054")
        assert await connection.fetch("select campaign, runs from campaign_pot order by 2") == [("x", 3), ("x", 10)]
        assert await connection.fetch("select campaign, slot, runs from campaign_slot") == [("x", 1, 4)] * slices
        await migrate(address)
        for number, before in enumerate(made):
            assert await tables_like(connection, number) == before
        await connection.close()
