"""The programmes in force, by name and by partner. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from abacus.core.fields import Fault
from abacus.engage.asking.decide.rule_in_force import RuleInForce
from abacus.exchanges.decide.programme import SIDES, Programme
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.signals.rules.decide.plan import RulePlan


@dataclass(frozen=True)
class InForce:
    """A programme in force: the same object while its version, and what its rule speaks of, stay the same."""

    programme: Programme
    around: ExchangePublications

    @property
    def plan(self) -> RulePlan | None:
        return self._rule.plan

    @property
    def misfit(self) -> Fault | None:
        """Why the rule does not fit what is published now: nobody can exchange then."""
        return self._rule.misfit

    @cached_property
    def _rule(self) -> RuleInForce:
        return RuleInForce(self.programme.when, SIDES, self.around)


class Programmes:
    """All of them."""

    def __init__(self, some: Iterable[InForce]) -> None:
        in_order = sorted(some, key=lambda each: each.programme.name)
        self.by_name: Mapping[str, InForce] = {each.programme.name: each for each in in_order}
        by_partner: dict[str, list[InForce]] = {}
        for each in self.by_name.values():
            by_partner.setdefault(each.programme.partner, []).append(each)
        self._by_partner = by_partner

    def of_partner(self, partner: str) -> Sequence[InForce]:
        """By name."""
        return self._by_partner.get(partner, ())
