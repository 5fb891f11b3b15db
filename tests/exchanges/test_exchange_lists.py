"""Lists of exchanges are read in the order of an index: none is sorted, and no table is scanned."""

import re
from typing import Final
from uuid import UUID

import pytest

from abacus.exchanges.decide.exchange import State
from abacus.exchanges.exchange_rows import Place, Which, listed
from abacus.platform.postgres import Pool, open_pool
from tests.support.exchanged import NOW

_SEEN: Final = (
    "select statement from pg_prepared_statements"
    " where statement like '%from exchange where%' and statement not like '%pg_prepared_statements%'"
)
_BEHIND: Final = Place(NOW, UUID(int=1))


@pytest.mark.parametrize(
    ("which", "index"),
    [
        (Which(programme="skymiles"), "exchange_programme_idx"),
        (Which(programme="skymiles", states=[State.CAPTURED]), "exchange_ended_idx"),
        (Which(programme="skymiles", states=[State.RELEASED]), "exchange_ended_idx"),
        (Which(reference="R-7"), "exchange_reference_idx"),
        (Which("bob"), "exchange_member_id_idx"),
    ],
    ids=lambda each: each if isinstance(each, str) else None,
)
@pytest.mark.parametrize("place", [None, _BEHIND], ids=["first", "behind"])
async def test_a_list_has_an_index(
    pool: Pool, database_url: str, which: Which, index: str, place: Place | None
) -> None:
    alone = await open_pool(database_url, size=1, keeps_nothing=True)
    try:
        await listed(alone, 50, which, place)
        (statement,) = [row[0] for row in await alone.fetch(_SEEN)]
        async with alone.acquire() as connection, connection.transaction():
            await connection.execute("set local enable_seqscan = off; set local enable_bitmapscan = off")
            await connection.execute("set local plan_cache_mode = force_generic_plan")
            await connection.execute(f"prepare list as {statement}")
            given = ", ".join(["null"] * len(set(re.findall(r"\$\d+", statement))))
            plan = "\n".join(row[0] for row in await connection.fetch(f"explain execute list({given})"))
    finally:
        await alone.close()
    assert index in plan
    assert "Seq Scan" not in plan
    if which.programme is not None:
        assert "Sort" not in plan
