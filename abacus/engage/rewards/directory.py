"""The rewards in force, as each process keeps them."""

from collections.abc import Mapping

from abacus.core.clock import Clock
from abacus.core.fields import EARLIEST
from abacus.documents.stated_directory import InUse, StatedDirectory
from abacus.engage.asking.kept_versions import BESIDE, Counters, KeptVersions, Services
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.reward_store import RewardStore
from abacus.platform.postgres import Pool
from abacus.signals.rules.decide.names import AnyName


class RewardDirectory(StatedDirectory[Reward, Mapping[str, Offered]]):
    """Serves the rewards in force by name. Every method raises `Unavailable` when they were never read."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._kept = KeptVersions(_around, Offered)
        super().__init__(pool, RewardStore(pool), clock, self._put_in_force, *BESIDE, kept=lambda reward: reward)

    def around(self) -> RewardPublications:
        """The counters and services that were published when the rewards were read."""
        self.value()
        return self._kept.around

    def _put_in_force(self, read: InUse[Reward]) -> Mapping[str, Offered]:
        return {each.reward.name: each for each in self._kept.put(read)}


def _around(counters: Counters, services: Services) -> RewardPublications:
    """Rewards were judged before: any segment is there."""
    return RewardPublications(EARLIEST, segments=AnyName(), counters=counters, externals=services)
