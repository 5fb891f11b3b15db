"""The segments that campaigns ask for."""

from datetime import datetime
from typing import Final, NamedTuple

from abacus.documents.decide.states import Status
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns


class SegmentUse(NamedTuple):
    """A version of a campaign with a rule that asks for the segment."""

    segment: str
    name: str
    version: int
    country: str
    status: str


# There are some thousand versions at most, and few that have not ended.
_USES: Final = Statement(f"""
select distinct {columns(SegmentUse)} from (
    select substr(side #>> '{{}}', length('segment.') + 1) as segment, name, version, country, status
    from campaign, jsonb_path_query(document, '$.**.lhs ? (@ starts with "segment.")') side
    where status <> '{Status.ENDED}' and ends_at > :now
) u
where :segment::text is null or segment = :segment
order by segment, name, version
""")


async def segment_uses(pool: Pool, now: datetime, segment: str | None = None) -> list[SegmentUse]:
    """By campaigns that have not ended: of one segment, or of all. Raises `Unavailable`."""
    async with passing_failures():
        return [SegmentUse(*row) for row in await pool.fetch(*_USES(now=now, segment=segment))]
