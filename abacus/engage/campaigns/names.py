"""The names of campaigns that may have given something, for the door of the award queue."""

from collections.abc import Collection
from typing import Final

from abacus.documents.decide.states import Status
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

_ONCE_IN_FORCE: Final = Statement(f"""
select distinct name from campaign
where name = any(:names::text[]) and status not in ('{Status.DRAFT}', '{Status.SUBMITTED}')
""")


class CampaignNames:
    """Campaigns are never deleted, so a name that is known once stays known, and no question is asked for it again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: set[str] = set()

    async def unknown(self, names: Collection[str]) -> frozenset[str]:
        """The names that no campaign has, or only drafts. Raises `Unavailable`."""
        new = [name for name in names if name not in self._known]
        if new:
            async with passing_failures():
                self._known.update(row["name"] for row in await self._pool.fetch(*_ONCE_IN_FORCE(names=new)))
        return frozenset(names) - self._known
