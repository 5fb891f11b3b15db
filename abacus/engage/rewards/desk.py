"""What people do with rewards: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_reader import parse_reward
from abacus.engage.rewards.decide.stock import EVER
from abacus.engage.rewards.pools import PoolState, pool_states
from abacus.engage.rewards.publications import reward_publications
from abacus.engage.rewards.reward_store import RewardStore
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

_USED: Final = Statement("""
select reward, period, pieces from reward_use where reward = any(:rewards::text[]) and period = any(:periods::text[])
""")
_STAGES: Final = Statement("""
select stage, count(*) as redemptions, sum(points)::bigint as points from reward_redemption
where reward = :reward group by stage order by stage
""")


class StageLine(NamedTuple):
    """How many redemptions of a reward are at a stage, and their points."""

    stage: str
    redemptions: int
    points: int


class RewardDesk(StatedDesk[Reward, RewardPublications]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals) -> None:
        super().__init__(pool, clock, RewardStore(pool), approvals, lambda _: self.around())

    async def around(self) -> RewardPublications:
        """What is published, by which drafts are judged."""
        return await reward_publications(self._pool, self.now())

    async def read(self, document: Mapping[str, object], around: RewardPublications | None = None) -> Reward:
        """The draft of a document, judged by what is published. Raises `RewardFaults`."""
        return parse_reward(document, around or await self.around())

    async def pools(self) -> Sequence[PoolState]:
        return await pool_states(self._pool)

    async def used(self, days: Mapping[str, str]) -> Mapping[str, Mapping[str, int]]:
        """The pieces that were taken of these rewards, by name and period: over all time, and on the day that is named
        for each.
        """
        found: dict[str, dict[str, int]] = {}
        async with passing_failures():
            rows = await self._pool.fetch(*_USED(rewards=[*days], periods=sorted({EVER, *days.values()})))
        for reward, period, pieces in rows:
            found.setdefault(reward, {})[period] = pieces
        return found

    async def stages(self, name: str) -> Sequence[StageLine]:
        """How many redemptions of a reward, by all its versions, are at which stage."""
        async with passing_failures():
            return [StageLine(*row) for row in await self._pool.fetch(*_STAGES(reward=name))]
