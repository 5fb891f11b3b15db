"""A reward in force, with the plan of its rule. Pure."""

from dataclasses import dataclass
from functools import cached_property

from abacus.core.fields import Fault
from abacus.engage.asking.decide.rule_in_force import RuleInForce
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import SIDES, Reward
from abacus.signals.rules.decide.plan import RulePlan


@dataclass(frozen=True)
class Offered:
    """The same object while the version, and what its rule speaks of, stay the same."""

    reward: Reward
    around: RewardPublications

    @property
    def plan(self) -> RulePlan | None:
        return self._rule.plan

    @property
    def misfit(self) -> Fault | None:
        """Why the rule does not fit what is published now: nobody can have the reward then."""
        return self._rule.misfit

    @cached_property
    def _rule(self) -> RuleInForce:
        return RuleInForce(self.reward.when, SIDES, self.around)
