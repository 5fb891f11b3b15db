"""What people do with rewards: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_reader import parse_reward
from abacus.engage.rewards.pools import free_codes
from abacus.engage.rewards.publications import reward_publications
from abacus.engage.rewards.reward_store import RewardStore
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

_PIECES: Final = Statement("select pieces from reward_use where reward = :reward and period = ''")
_STAGES: Final = Statement("""
select stage, count(*) as redemptions, sum(points)::bigint as points from reward_redemption
where reward = :reward group by stage order by stage
""")


class StageLine(NamedTuple):
    """How many redemptions of a reward are at a stage, and their points."""

    stage: str
    redemptions: int
    points: int


class Taken(NamedTuple):
    """What was taken of a reward, by all its versions; the stock is None where there is no such limit."""

    pieces: int
    stock: int | None
    stages: Sequence[StageLine]


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

    async def free_codes(self) -> Mapping[str, int]:
        """Of each pool."""
        return await free_codes(self._pool)

    async def taken(self, reward: Reward) -> Taken:
        async with passing_failures():
            pieces = await self._pool.fetchval(*_PIECES(reward=reward.name))
            stages = await self._pool.fetch(*_STAGES(reward=reward.name))
        return Taken(pieces or 0, reward.limits.overall.runs, [StageLine(*row) for row in stages])
