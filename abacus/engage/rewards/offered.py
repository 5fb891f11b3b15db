"""A reward in force, with the plan of its rule. Pure."""

from dataclasses import dataclass
from functools import cached_property

from abacus.engage.rewards.decide.facts import reward_sides
from abacus.engage.rewards.decide.reward import Reward
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.plan import RulePlan


class _AnyName(frozenset[str]):
    """All names: for rewards that were judged before."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


@dataclass(frozen=True)
class Offered:
    """A process makes the plan once for each version."""

    reward: Reward

    @cached_property
    def plan(self) -> RulePlan | None:
        when = self.reward.when
        return None if when is None else RulePlan(parse_rule(when, reward_sides(_AnyName())))
