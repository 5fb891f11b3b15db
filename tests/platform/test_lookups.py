"""Connections that only look rows up by key: a statement is planned once, whatever the values and the table's size."""

from abacus.platform.postgres import LOOKUPS_BY_KEY, open_pool

STATEMENT = "select c.key from unnest($1::text[]) as u (key) join claim c on c.key = u.key"


async def test_a_statement_is_planned_once_and_looks_up_by_key(database_url: str) -> None:
    pool = await open_pool(database_url, size=1, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    try:
        async with pool.acquire() as connection:
            for number in range(1, 20):
                await connection.fetch(STATEMENT, [f"k{each}" for each in range(number * number)])
            plans = await connection.fetchrow(
                "select sum(generic_plans) as once, sum(custom_plans) as anew from pg_prepared_statements"
                " where statement = $1",
                STATEMENT,
            )
            explained = await connection.fetch(f"explain {STATEMENT}", ["k1"])
        assert (plans["once"], plans["anew"]) == (19, 0)
        assert "Seq Scan" not in "\n".join(row[0] for row in explained)
    finally:
        await pool.close()
