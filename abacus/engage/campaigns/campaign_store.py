"""Campaigns in Postgres: a store of versions with states, which knows of exclusive groups."""

from collections.abc import Collection
from typing import Final, TypeAlias

from abacus.core.errors import Unavailable
from abacus.documents.decide.states import Status
from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.documents.statements import Statements
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

CampaignRecord: TypeAlias = Stated[Campaign]

_OF_GROUP: Final = Statements(CAMPAIGNS.table).where(
    "d.approved_at is not null and d.document ->> 'exclusive' = :exclusive and d.name <> :name"
)


class CampaignStore(StatedStore[Campaign, Publications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, CAMPAIGNS)

    async def beside(self, campaign: Campaign) -> list[CampaignRecord]:
        """Every version that was ever approved of the other campaigns of its exclusive group."""
        if campaign.exclusive is None:
            return []
        return await self._read(_OF_GROUP, exclusive=campaign.exclusive, name=campaign.name)


class CampaignVersions:
    """The versions that this process has read."""

    def __init__(self, store: CampaignStore) -> None:
        self._store = store
        self._known: dict[tuple[str, int], Campaign] = {}

    async def of(self, name: str, version: int) -> Campaign:
        """Raises `Unavailable`, also while there is no such version yet."""
        place = name, version
        if place not in self._known:
            history = await self._store.history(name)
            self._known |= {(name, each.document.version): each.document for each in history}
        if place not in self._known:
            raise Unavailable("campaigns", f"there is no {name}@{version}")
        return self._known[place]


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
