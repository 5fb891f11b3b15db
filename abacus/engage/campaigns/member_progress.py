"""How far a member is in each campaign that met it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns


class MemberProgress(NamedTuple):
    """Over the whole life of the campaign: the events that counted, the runs, and the points that they earned."""

    campaign: str
    country: str
    events: int
    runs: int
    points: int
    variant: str | None


_OF_MEMBER: Final = Statement(f"""
select {columns(MemberProgress)} from (
    select p.campaign, (select c.country from campaign c where c.name = p.campaign limit 1) as country,
        p.events, p.runs, p.points, p.variant
    from campaign_progress p where p.member_id = :member_id and p.scope = ''
) as progress
where :countries::text[] is null or country = any(:countries) order by campaign limit :limit
""")


async def progress_of(
    pool: Pool, member_id: str, countries: Sequence[str] | None, limit: int
) -> Sequence[MemberProgress]:
    """In campaigns of these countries, or of all. Raises `Unavailable`."""
    given = {"countries": countries if countries is None else list(countries), "limit": limit}
    async with passing_failures():
        return [MemberProgress(*row) for row in await pool.fetch(*_OF_MEMBER(member_id=member_id, **given))]
