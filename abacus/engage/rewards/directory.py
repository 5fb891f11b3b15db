"""The rewards in force, as each process keeps them."""

from collections.abc import Mapping

from abacus.core.clock import Clock
from abacus.core.fields import EARLIEST
from abacus.documents.stated_directory import InUse, StatedDirectory
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.reward_store import RewardStore
from abacus.platform.postgres import Pool
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.rules.decide.names import AnyName


class RewardDirectory(StatedDirectory[Reward, Mapping[str, Offered]]):
    """Serves the rewards in force by name. Every method raises `Unavailable` when they were never read."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._offered: dict[str, Offered] = {}
        self._around = RewardPublications(EARLIEST, segments=AnyName())  # rewards were judged before
        store = RewardStore(pool)
        super().__init__(pool, store, clock, self._put_in_force, COUNTERS, DOWNSTREAMS, kept=lambda reward: reward)

    def around(self) -> RewardPublications:
        """The counters and services that were published when the rewards were read."""
        self.value()
        return self._around

    def _put_in_force(self, read: InUse[Reward]) -> Mapping[str, Offered]:
        counters = {each.name: each for each in read.beside.of(COUNTERS)}
        services = {each.name: each.service.answers for each in read.beside.of(DOWNSTREAMS) if each.service}
        if (self._around.counters, self._around.externals) != (counters, services):
            self._around = RewardPublications(EARLIEST, segments=AnyName(), counters=counters, externals=services)
            self._offered.clear()
        before = {each.reward.label: each for each in self._offered.values()}
        self._offered = {each.name: before.get(each.label) or Offered(each, self._around) for each in read.versions}
        return self._offered
