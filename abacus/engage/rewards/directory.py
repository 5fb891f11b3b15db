"""The rewards in force, as each process keeps them."""

from collections.abc import Mapping

from abacus.core.clock import Clock
from abacus.documents.stated_directory import InUse, StatedDirectory
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.reward_store import RewardStore
from abacus.platform.postgres import Pool


class RewardDirectory(StatedDirectory[Reward, Mapping[str, Offered]]):
    """Serves the rewards in force by name. Every method raises `Unavailable` when they were never read."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._offered: dict[str, Offered] = {}
        super().__init__(pool, RewardStore(pool), clock, self._put_in_force, kept=lambda reward: reward)

    def _put_in_force(self, read: InUse[Reward]) -> Mapping[str, Offered]:
        before = {each.reward.label: each for each in self._offered.values()}
        self._offered = {each.name: before.get(each.label) or Offered(each) for each in read.versions}
        return self._offered
