"""Digests of what partners asked for, from before they were keyed, are forgotten."""

import asyncio

import asyncpg
import pytest
from alembic import command

from abacus.platform import sandbox
from abacus.platform.migrations import HEAD, alembic_config, make_sandbox, migrate
from tests.support.old_database import database_at
from tests.support.services import Services

pytestmark = pytest.mark.once

# More than one part has.
ENTER = """
insert into {schema}.exchange (exchange_id, direction, programme, version, partner, member_id, program, country,
    link_id, points, theirs, fee, fingerprint, actor, source, state, quoted_at, expires_at, changed_at, attempts, turns)
select gen_random_uuid(), case when n % 2 = 0 then 'in' else 'out' end, 'skymiles', 1, 'skyline', 'bob', 'SR', 'SG',
    gen_random_uuid(), 1, 1, 0, 'digest', 'skyline', 'partner:skyline', 'reserved', now(), now(), now(), 0, 1
from generate_series(1, 12000) n
"""
DIGESTS = "select direction, fingerprint, count(*) from {schema}.exchange group by 1, 2 order by 1"


async def test_digests_of_what_comes_in_are_forgotten_and_others_stay(services: Services) -> None:
    schemas = ("public", sandbox.SCHEMA)
    async with database_at(HEAD, services) as url:
        await make_sandbox(url)
        for schema in (None, sandbox.SCHEMA):
            await asyncio.to_thread(command.downgrade, alembic_config(url, schema), "0105")
        connection = await asyncpg.connect(url)
        for schema in schemas:
            await connection.execute(ENTER.format(schema=schema))
        await migrate(url, "0106")
        for schema in schemas:
            rows = await connection.fetch(DIGESTS.format(schema=schema))
            assert [tuple(row) for row in rows] == [("in", "", 6000), ("out", "digest", 6000)]
        await connection.close()
