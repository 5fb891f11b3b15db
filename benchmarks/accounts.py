"""Entering accounts by the million, also into a ledger that is cut into slices."""

from typing import Final

from abacus.platform.postgres import Connection
from abacus.platform.slices import SliceMap

_TIMEOUT_S: Final = 1800.0


async def enter_accounts(connection: Connection, statement: str, *values: object) -> None:
    """Carries out the statement, which inserts into `account`: on a ledger in slices, each row goes to the slice of its
    member. As the owner of the tables.
    """
    count = await connection.fetchval("select count(*) from slice")
    slice_map = SliceMap(count or 1)
    if slice_map.slices == 1:
        await connection.execute(statement, *values, timeout=_TIMEOUT_S)
    else:
        await connection.execute("create table entered (like slice_0.account including defaults)")
        await connection.execute(statement.replace("into account ", "into entered "), *values, timeout=_TIMEOUT_S)
        for number, schema in enumerate(slice_map.schemas):
            await connection.execute(
                f"insert into {schema}.account select * from entered"
                f" where abacus_slice_of(member_id, {slice_map.slices}) = {number}",
                timeout=_TIMEOUT_S,
            )
        await connection.execute("drop table entered")
    for schema in slice_map.schemas:
        await connection.execute(f"vacuum analyze {schema}.account", timeout=_TIMEOUT_S)
