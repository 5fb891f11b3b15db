"""The compiled function of a rule says what a plain evaluator says, for any rule and any event."""

from decimal import Decimal

from hypothesis import given

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.document import parse_rule, rule_document
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Operator, Rule
from tests.signals.rules.any_rules import LOOKED_UP, looked_up, rules, variables
from tests.signals.rules.orders import RESOLVE, order
from tests.signals.rules.plain import holds


@given(rules, variables, looked_up)
def test_compiled_is_interpreted(rule: Rule, values: dict[str, Value], found: dict[str, Value]) -> None:
    event = order(values)
    assert compile_rule(rule)(event, found) is holds(rule, event, found)


@given(rules)
def test_a_rule_comes_back_from_its_document(rule: Rule) -> None:
    assert parse_rule(rule_document(rule), lambda text: LOOKED_UP if text == LOOKED_UP.text else RESOLVE(text)) == rule


def test_rules_that_differ_do_not_share_a_function() -> None:
    yes, no = (Condition(Operator.EQ, RESOLVE("event.country"), each) for each in ("ID", "SG"))
    event = order()
    assert [compile_rule(kind((yes, no)))(event) for kind in (AllOf, AnyOf)] == [False, True]


def test_decimals_are_compared_in_all_their_digits() -> None:
    rule = parse_rule({"operator": "gt", "lhs": "var.amount", "rhs": "0.100000000001"}, RESOLVE)
    assert [compile_rule(rule)(order({"amount": Decimal(each)})) for each in ("0.1", "0.100000000002")] == [False, True]
