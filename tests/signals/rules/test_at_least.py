"""What is known from below settles conditions for good, or leaves them open; a rule that is open needs no more."""

from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.events.types import Value, VariableType
from abacus.signals.rules.decide.at_least import AtLeast, lasting
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.document import OPERATORS
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import Condition, Operator, Origin, Rule, Side
from tests.signals.rules.any_rules import conditions, groups
from tests.signals.rules.orders import order
from tests.signals.rules.plain import holds

NAMES = ("campaign.runs", "campaign.points", "member.balance", "counter.rides(7d)")
SIDES = [
    Side(name, VariableType.INTEGER, Origin(name.partition(".")[0], cost), name) for cost, name in enumerate(NAMES)
]
RUNS = SIDES[0]
VALUES = st.integers(-3, 3)
_RISES = st.integers(0, 8)


@st.composite
def on_integers(draw: st.DrawFn, side: Side = RUNS) -> Condition:
    operator = draw(st.sampled_from(OPERATORS[VariableType.INTEGER]))
    match operator:
        case Operator.EXISTS:
            return Condition(operator, side)
        case Operator.IN:
            return Condition(operator, side, draw(st.frozensets(VALUES, min_size=1, max_size=3)))
        case Operator.BETWEEN:
            lowest, highest = sorted([draw(VALUES), draw(VALUES)])
            return Condition(operator, side, (lowest, highest))
        case _:
            return Condition(operator, side, draw(VALUES))


some = st.sampled_from(SIDES).flatmap(on_integers)
any_rule = st.recursive(st.one_of(some, conditions()), groups, max_leaves=8)


@given(on_integers(), VALUES)
def test_the_outcome_lasts_as_far_as_the_value_rises(condition: Condition, least: int) -> None:
    """It is open only where it will be another one, or may be by then what it is not now."""
    outcomes = [compile_rule(condition)(order(), {RUNS.text: value}) for value in range(least, 10)]
    lasts = lasting(condition, AtLeast(least))
    assert (len(set(outcomes)) == 1) is (lasts is not None)
    assert lasts in {outcomes[0], None}


@given(any_rule, st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)), _RISES, _RISES)
def test_a_rule_that_is_open_has_all_values_that_it_will_need(
    rule: Rule, values: dict[str, int], runs: int, points: int
) -> None:
    """Whatever was looked up before, it comes to the same as it would with the values as they are in the end."""
    plan, event = RulePlan(rule), order()
    rising = {"campaign.runs": runs, "campaign.points": points}
    known: dict[str, Value | AtLeast | None] = {}
    while (decision := plan.decide(event, known)).wanted is not None:
        text = decision.wanted.text
        known[text] = AtLeast(values[text]) if text in rising else values.get(text)
    risen: dict[str, Value] = {text: value + rising.get(text, 0) for text, value in values.items()}
    final = plan.decide(event, {text: risen.get(text) for text in known})
    assert final.wanted is None
    assert final.holds is holds(rule, event, risen)
    assert decision.holds in {final.holds, None}
