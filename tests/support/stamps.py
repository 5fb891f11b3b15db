"""Whether the stamps of transfers, by which the relay orders them, grow along each account."""

from abacus.platform.postgres import Pool


async def ids_against_seq(pool: Pool) -> list[str]:
    rows = await pool.fetch(
        """
        select member_id, program, seq from (
            select *, lag(xid) over (partition by member_id, program order by seq) as before from transfer
        ) as followed
        where before > xid
        """
    )
    return [f"{row['member_id']} {row['program']} #{row['seq']}" for row in rows]
