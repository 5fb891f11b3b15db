"""No page reads a table of the ledger from end to end: each of its statements has an index for every large table."""

import re

from abacus.console.app import SERVED
from abacus.platform.postgres import Pool, open_pool
from abacus.pricing.store.cards import CardReader
from tests.console.addresses import address
from tests.console.desk import desk
from tests.console.furnished import furnished
from tests.support.hooks import award, post

_LARGE = (
    "transfer|account|claim|hold|draw|notification|campaign_claim|campaign_progress|partner_award|partner_request"
    "|approval|quarantine|exchange"
)
_NAMED = re.compile(rf"\b(?:{_LARGE})\b")
_PLACE = "select statement from pg_prepared_statements where statement not like '%pg_prepared_statements%'"


async def test_no_page_scans_a_table_of_the_ledger(pool: Pool, database_url: str) -> None:
    await post(pool, *(award(f"txn:rides:{number}") for number in range(40)))
    async with desk(pool) as open_desk:
        approval = await furnished(open_desk)
    alone, seen = await open_pool(database_url, size=1, keeps_nothing=True), set[str]()
    try:
        async with desk(alone) as open_desk:
            await open_desk.rooms[CardReader].refresh()
            eve = await open_desk.inside("eve", "admin")
            for served in SERVED:
                if served.method == "GET" and not served.is_stream:
                    answer = await eve.twin(address(served.path, approval))
                    assert (served.path, answer.status_code) == (served.path, 200)
                    seen |= {row[0] for row in await alone.fetch(_PLACE)}
        statements = sorted(each for each in seen if _NAMED.search(each))
        assert len(statements) >= 10
        async with alone.acquire() as connection, connection.transaction():
            await connection.execute("set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan")
            for number, statement in enumerate(statements):
                given = ", ".join(["null"] * len(set(re.findall(r"\$\d+", statement))))
                await connection.execute(f"prepare seen_{number} as {statement}")
                execution = f"seen_{number}({given})" if given else f"seen_{number}"
                plan = "\n".join(row[0] for row in await connection.fetch(f"explain execute {execution}"))
                assert re.search(rf"Seq Scan on (?:{_LARGE})\b", plan) is None, f"{statement}\n{plan}"
    finally:
        await alone.close()
