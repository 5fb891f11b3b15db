"""Campaigns by a part of their name, or of what they say they are about."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns


class CampaignFound(NamedTuple):
    """The latest version of a campaign."""

    name: str
    version: int
    country: str
    status: str
    about: str | None


# There are some thousand versions at most: their names are looked through.
_NAMED: Final = Statement(f"""
select {columns(CampaignFound)} from (
    select distinct on (name) name, version, country, status, document ->> 'about' as about from campaign
    where :countries::text[] is null or country = any(:countries)
    order by name, version desc
) c
where strpos(name, lower(:text)) > 0 or strpos(lower(about), lower(:text)) > 0
order by not starts_with(name, lower(:text)), name limit :most
""")


async def campaigns_named(pool: Pool, text: str, countries: Sequence[str] | None, most: int) -> list[CampaignFound]:
    """Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_NAMED(text=text, countries=countries, most=most))
    return [CampaignFound(*row) for row in rows]
