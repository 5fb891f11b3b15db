"""What campaigns ask for, call and grant: segments, counters, services, webhooks, offers and rewards, by campaigns that
have not ended.
"""

from datetime import datetime
from typing import Final, NamedTuple

from abacus.documents.decide.states import Status
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns

WEBHOOK: Final = "webhook"  # the origin of what is called; of what is asked, that of its left side


class CampaignUse(NamedTuple):
    """A version of a campaign that asks for the thing, calls it, or grants it."""

    thing: str
    name: str
    version: int
    country: str
    status: str


# There are some thousand versions at most, and few that have not ended. `counter.rides(7d)` asks for `counter.rides`.
_USES: Final = Statement(f"""
select distinct {columns(CampaignUse)} from (
    select substr(said, length(:origin::text) + 2) as thing, name, version, country, status from (
        select split_part(side #>> '{{}}', '(', 1) as said, name, version, country, status, ends_at
        from campaign, jsonb_path_query(document, '$.**.lhs') side
        union all
        select '{WEBHOOK}.' || (called #>> '{{}}'), name, version, country, status, ends_at
        from campaign, jsonb_path_query(document, '$.**.call') called
        union all
        select granted.key || '.' || granted.value, name, version, country, status, ends_at
        from campaign, jsonb_path_query(document, '$.steps[*].do[*].grant') deed, jsonb_each_text(deed) granted
    ) s
    where status <> '{Status.ENDED}' and ends_at > :now and starts_with(said, :origin::text || '.')
) u
where :thing::text is null or thing = :thing
order by thing, name, version
""")


async def campaign_uses(pool: Pool, now: datetime, origin: str, thing: str | None = None) -> list[CampaignUse]:
    """Of one thing of an origin, or of all. Raises `Unavailable`."""
    async with passing_failures():
        return [CampaignUse(*row) for row in await pool.fetch(*_USES(now=now, origin=origin, thing=thing))]
