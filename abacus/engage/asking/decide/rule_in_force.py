"""The rule of a version in force, with its plan. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from abacus.core.fields import DocumentFaults, Fault
from abacus.engage.asking.decide.sides import Published, RequestSides
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.plan import RulePlan


@dataclass(frozen=True)
class RuleInForce:
    """A process makes the plan once for each version, and anew where other counters or services are published."""

    when: Mapping[str, object] | None
    sides: RequestSides
    around: Published

    @property
    def plan(self) -> RulePlan | None:
        return self._read if isinstance(self._read, RulePlan) else None

    @property
    def misfit(self) -> Fault | None:
        """Why the rule does not fit what is published now: it holds for nobody then."""
        return self._read if isinstance(self._read, Fault) else None

    @cached_property
    def _read(self) -> RulePlan | Fault | None:
        if self.when is None:
            return None
        try:
            return RulePlan(parse_rule(self.when, self.sides.resolver(self.around), path="when"))
        except DocumentFaults as error:
            return error.faults[0]
