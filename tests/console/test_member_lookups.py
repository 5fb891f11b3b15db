"""The page of a member looks rows of the ledger up: each of its statements has an index for every large table."""

import re

from abacus.platform.postgres import Pool, open_pool
from tests.console.desk import desk
from tests.support.hooks import award, post

_LARGE = re.compile(r"\b(?:transfer|account|claim|hold|draw)\b")
_PLACE = "select statement from pg_prepared_statements where statement not like '%pg_prepared_statements%'"


async def test_no_statement_of_the_page_scans_a_table_of_the_ledger(pool: Pool, database_url: str) -> None:
    await post(pool, *(award(f"txn:rides:{number}") for number in range(40)))
    alone = await open_pool(database_url, size=1, keeps_nothing=True)
    try:
        async with desk(alone) as open_desk:
            ann = await open_desk.inside("ann", "support")
            assert len((await ann.twin("/members/bob")).json()["timeline"]["value"]["rows"]) == 25
            statements = [row[0] for row in await alone.fetch(_PLACE) if _LARGE.search(row[0])]
        assert len(statements) >= 4
        async with alone.acquire() as connection, connection.transaction():
            await connection.execute("set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan")
            for number, statement in enumerate(statements):
                given = ", ".join(["null"] * len(set(re.findall(r"\$\d+", statement))))
                await connection.execute(f"prepare seen_{number} as {statement}")
                rows = await connection.fetch(f"explain execute seen_{number}({given})")
                plan = "\n".join(row[0] for row in rows)
                assert re.search(r"Seq Scan on (?:transfer|account|claim|hold|draw)\b", plan) is None, plan
    finally:
        await alone.close()
