"""Rewards in Postgres: a store of versions with states."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, TypeAlias

from abacus.documents.decide.states import Status
from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.engage.rewards.decide.granted import RewardHead
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.kind import REWARDS
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

RewardRecord: TypeAlias = Stated[Reward]

# Of the version in force, or else of the newest.
_HEADS: Final = Statement(f"""
select distinct on (name) name, country, (document #>> '{{price,points}}')::bigint as points,
    document -> 'delivery' ? 'program' as gives_points
from reward
where status <> '{Status.ENDED}' and ends_at > :now
order by name, status in ('{Status.APPROVED}', '{Status.PAUSED}') desc, version desc
""")

# Approved, and not there now, but perhaps later.
_WAITING: Final = Statement(f"""
select name from reward where name = any(:names::text[]) and ends_at > :now
    and (status = '{Status.PAUSED}' or status = '{Status.APPROVED}' and starts_at > :now)
""")


class RewardStore(StatedStore[Reward, RewardPublications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, REWARDS)

    async def heads(self, now: datetime) -> Mapping[str, RewardHead]:
        """The rewards that are not over, by name."""
        async with passing_failures():
            rows = await self._pool.fetch(*_HEADS(now=now))
        return {row[0]: RewardHead(*row[1:]) for row in rows}

    async def waiting(self, names: Collection[str], now: datetime) -> frozenset[str]:
        """Which of these rewards are paused, or have not begun."""
        async with passing_failures():
            return frozenset(row["name"] for row in await self._pool.fetch(*_WAITING(names=list(names), now=now)))
