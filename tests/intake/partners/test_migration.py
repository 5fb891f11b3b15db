"""Partners from before spending and reading had to be given keep what they could do."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from abacus.platform.migrations import migrate
from tests.support.old_database import database_at
from tests.support.services import Services

pytestmark = pytest.mark.once

PARTNER = """
insert into partner (partner_id, name, fixed_points, computed_points, countries, requests_per_minute, created_at,
    created_by, may_spend) values ($1, 'Acme', true, true, '{}', 60, now(), 'ann', $2)
"""


@pytest.fixture
async def old(services: Services) -> AsyncIterator[str]:
    async with database_at("0050", services) as url:
        yield url


async def test_partners_of_before_keep_their_rights_and_new_ones_are_given_theirs(old: str) -> None:
    connection = await asyncpg.connect(old)
    for before in (("acme", True), ("bits", False)):
        await connection.execute(PARTNER, *before)
    await migrate(old, "0051")
    await connection.execute(PARTNER.replace(", may_spend", "").replace(", $2", ""), "cafe")
    rows = await connection.fetch("select partner_id, may_spend, may_read_members from partner order by partner_id")
    await connection.close()
    assert [tuple(row) for row in rows] == [("acme", True, True), ("bits", False, True), ("cafe", False, False)]
