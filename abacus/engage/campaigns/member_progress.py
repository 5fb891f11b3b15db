"""How far a member is in each campaign that met it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement


class MemberProgress(NamedTuple):
    """Over the whole life of the campaign: the events that counted, the runs, and the points that they earned."""

    campaign: str
    country: str
    events: int
    runs: int
    points: int
    variant: str | None


_OF_MEMBER: Final = Statement("""
select campaign, events, runs, points, variant from campaign_progress
where member_id = :member_id and scope = '' order by campaign
""")
_COUNTRIES: Final = Statement("select distinct name, country from campaign where name = any(:names::text[])")


async def progress_of(
    pool: Pool, member_id: str, countries: Sequence[str] | None, limit: int
) -> Sequence[MemberProgress]:
    """In campaigns of these countries, or of all. Raises `Unavailable`."""
    async with passing_failures():
        async with slices.at(pool, member_id) as connection:
            rows = await connection.fetch(*_OF_MEMBER(member_id=member_id))
        country_of = dict(await pool.fetch(*_COUNTRIES(names=[row["campaign"] for row in rows])))
    told = (MemberProgress(country=country_of.get(row["campaign"], ""), **row) for row in rows)
    return [each for each in told if countries is None or each.country in countries][:limit]
