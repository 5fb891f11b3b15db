"""A reward in force, with the plan of its rule. Pure."""

from dataclasses import dataclass
from functools import cached_property

from abacus.core.fields import DocumentFaults, Fault
from abacus.engage.rewards.decide.facts import reward_sides
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.plan import RulePlan


@dataclass(frozen=True)
class Offered:
    """A process makes the plan once for each version, and anew where other counters or services are published."""

    reward: Reward
    around: RewardPublications

    @property
    def plan(self) -> RulePlan | None:
        return self._read if isinstance(self._read, RulePlan) else None

    @property
    def misfit(self) -> Fault | None:
        """Why the rule does not fit what is published now: nobody can have the reward then."""
        return self._read if isinstance(self._read, Fault) else None

    @cached_property
    def _read(self) -> RulePlan | Fault | None:
        if self.reward.when is None:
            return None
        try:
            return RulePlan(parse_rule(self.reward.when, reward_sides(self.around), path="when"))
        except DocumentFaults as error:
            return error.faults[0]
