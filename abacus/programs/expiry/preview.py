"""What a month's end will take, by country and program, without changing anything."""

from datetime import date
from typing import Final, NamedTuple

from abacus.platform.postgres import Pool, passing_failures
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.lapsing import lapsing_points

_PREVIEW: Final = f"""
select country, program, count(distinct member_id)::bigint as members, sum({lapsing_points("$3")})::bigint as points
from account
where country = $1 and expires_on >= $2 and expires_on <= $3 and balance > held
group by country, program
order by country, program
"""


class Expected(NamedTuple):
    """Members who will lose points at a month's end, as things stand."""

    country: str
    program: str
    members: int
    points: int


async def preview(pool: Pool, country: str, month: Month, *, with_earlier: bool) -> list[Expected]:
    """`with_earlier` counts also what lapsed before and is still there, which goes with this month's end. Raises
    `Unavailable`.
    """
    first = date.min if with_earlier else month.first_day
    async with passing_failures():
        rows = await pool.fetch(_PREVIEW, country, first, month.last_day)
    return [Expected(*row) for row in rows]
