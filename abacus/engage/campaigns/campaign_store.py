"""Campaigns in Postgres: a store of versions with states, which knows of exclusive groups."""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeAlias

from abacus.core.errors import Unavailable
from abacus.documents.decide.states import Status
from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.documents.statements import Statements
from abacus.engage.campaigns.decide.campaign import OWNER_KIND, Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.limits.decide.pots import EVER
from abacus.engage.limits.types import MICROS
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

CampaignRecord: TypeAlias = Stated[Campaign]

_OF_GROUP: Final = Statements(CAMPAIGNS.table).where(
    "d.approved_at is not null and d.document ->> 'exclusive' = :exclusive and d.name <> :name"
)


_NEAR_THE_END: Final = Statement(f"""
select c.name, c.version from campaign c
left join limit_pot p on p.owner_kind = '{OWNER_KIND}' and p.owner = c.name and p.period = '{EVER}'
where c.status = '{Status.APPROVED}' and c.starts_at <= :now and c.ends_at > :now
    and (:countries::text[] is null or c.country = any(:countries)) and (
        c.ends_at < :soon
        or p.runs >= :share * (c.document #>> '{{limits,runs,overall}}')::numeric
        or p.points >= :share * (c.document #>> '{{limits,points,overall}}')::numeric
        or p.cost >= :share * (c.document #>> '{{limits,budget,overall}}')::numeric * {MICROS}
    )
order by c.ends_at, c.name limit :limit
""")


# Where a member has a limit, or is in an arm, what it has had is kept.
_REMEMBERING: Final = Statement(f"""
select distinct name from campaign
where status not in ('{Status.DRAFT}', '{Status.SUBMITTED}', '{Status.ENDED}') and ends_at > :now
    and (document ? 'split' or jsonb_path_exists(document, '$.limits.*.member'))
""")


class CampaignStore(StatedStore[Campaign, Publications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, CAMPAIGNS)

    async def remembering(self, now: datetime) -> frozenset[str]:
        """The names of the campaigns that are not over, and keep what each member has had of them."""
        async with passing_failures():
            return frozenset(row["name"] for row in await self._pool.fetch(*_REMEMBERING(now=now)))

    async def beside(self, campaign: Campaign) -> list[CampaignRecord]:
        """Every version that was ever approved of the other campaigns of its exclusive group."""
        if campaign.exclusive is None:
            return []
        return await self._read(_OF_GROUP, exclusive=campaign.exclusive, name=campaign.name)

    async def near_their_end(
        self, now: datetime, soon: datetime, share: Decimal, *, countries: Sequence[str] | None, limit: int
    ) -> list[CampaignRecord]:
        """Running versions that end soon, or of whose limits this share was handed out; those that end first."""
        given = {"now": now, "soon": soon, "share": share, "limit": limit}
        async with passing_failures():
            rows = await self._pool.fetch(
                *_NEAR_THE_END(**given, countries=None if countries is None else list(countries))
            )
        names, versions = [row["name"] for row in rows], [row["version"] for row in rows]
        found = await self._read(self._sql.versions, names=names, versions=versions) if rows else []
        return sorted(found, key=lambda each: (each.document.ends_at, each.document.name))


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
