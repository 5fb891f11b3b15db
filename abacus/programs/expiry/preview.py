"""The points that a month's end will take, by country and program. Changes nothing."""

from datetime import date
from typing import Final, NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.lapsing_sql import lapsing


class Expected(NamedTuple):
    """Members who will lose points at a month's end, as things stand."""

    country: str
    program: str
    members: int
    points: int


_PREVIEW: Final = Statement(f"""
select {columns(Expected)} from (
    select a.country, a.program, count(distinct a.member_id)::bigint as members, sum(l.points)::bigint as points
    from account a cross join lateral {lapsing("a")} l
    where a.country = :country and a.expires_on <= :last_day and a.balance > a.held
        and l.lapses_on between :first_day and :last_day and l.points > 0
    group by a.country, a.program
) expected
""")


async def preview(pool: Pool, country: str, month: Month, *, with_earlier: bool) -> list[Expected]:
    """`with_earlier` also counts points that lapsed before and are still there: they go with this month's end. Raises
    `Unavailable`.
    """
    first = date.min if with_earlier else month.first_day
    statement = _PREVIEW(country=country, first_day=first, last_day=month.last_day)
    async with passing_failures(), pool.acquire() as connection:
        return [Expected(*row) for row in await slices.sums(connection, statement, facts=2)]
