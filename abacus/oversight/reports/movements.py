"""The movements of a month, read from the ledger."""

from collections.abc import Collection

from abacus.oversight.reports.accounts import balances
from abacus.oversight.reports.decide.by import By, columns
from abacus.oversight.reports.decide.rollforward import SIGNS, Movement, Rollforward, summed, tie
from abacus.oversight.reports.homes import Homes
from abacus.oversight.reports.months import of_column
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.sql import Statement, row_of
from abacus.programs.expiry.decide.month import Month


async def rollforward(connection: Connection, where: Homes, month: Month, by: Collection[By]) -> Rollforward:
    """The books of a month. The connection's transaction has to be one snapshot, or postings meanwhile would keep
    the two sides apart.
    """
    since, until = where.begin(month.first_day), where.end(month.last_day)
    statement = _statement(by)(countries=where.countries, since=since, until=until)
    rows = await slices.rows_on(connection, statement, within_s=LONG_S)
    movements = [row_of(Movement, row) for row in rows]
    return Rollforward(summed(movements, by), tie(movements, await balances(connection, where, until)))


def _statement(by: Collection[By]) -> Statement:
    moved = ", ".join(
        f"coalesce({sign} * sum(points) filter (where {of_column(column)} and within), 0)::bigint as {column}"
        for column, sign in SIGNS.items()
    )
    return Statement(f"""
    with home as (
        select * from unnest(:countries::text[], :since::timestamptz[], :until::timestamptz[])
            as h (country, since, until)
    ), moved as (
        select t.program, {columns(by)}, t.kind, t.points, t.posted_at >= h.since as within
        from transfer t
        join account a on a.member_id = t.member_id and a.program = t.program
        join home h on h.country = a.country
        where t.points <> 0 and t.posted_at < h.until
    )
    select program, country, tier, partner, source,
        coalesce(sum(points) filter (where not within), 0)::bigint as opening, {moved}, sum(points)::bigint as closing
    from moved
    group by program, country, tier, partner, source
    """)
