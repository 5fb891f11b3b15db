"""A rule is decided from what was kept of it as it was decided at first."""

from hypothesis import given

from abacus.engage.campaigns.decide.conditions import conditions_of
from abacus.engage.campaigns.decide.recomputation import recompute
from abacus.signals.events.types import Value
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import Rule
from tests.signals.rules.any_rules import looked_up, rules, variables
from tests.signals.rules.orders import order


@given(rules, variables, looked_up)
def test_it_comes_to_the_same(rule: Rule, values: dict[str, Value], found: dict[str, Value]) -> None:
    """Or says that it cannot tell: a text that says "missing", or entries of a list with commas."""
    event = order(values)
    decision = RulePlan(rule).decide(event, {"member.tier": found.get("member.tier")})
    kept = conditions_of(decision.looked)
    for recomputed in (recompute(rule, kept), recompute(rule, kept, event)):
        assert recomputed.faults == []
        assert recomputed.holds in {decision.holds, None}


@given(rules, variables, looked_up)
def test_what_is_left_out_is_not_made_up(rule: Rule, values: dict[str, Value], found: dict[str, Value]) -> None:
    """Without the last condition that was looked at, the rest never settles a rule otherwise."""
    event = order(values)
    decision = RulePlan(rule).decide(event, {"member.tier": found.get("member.tier")})
    assert recompute(rule, conditions_of(decision.looked[:-1])).holds in {decision.holds, None}
