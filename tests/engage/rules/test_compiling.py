"""The compiled function of a rule says what a plain evaluator says, for any rule and any event."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.events.types import Value, VariableType
from abacus.engage.rules.decide.compiling import compile_rule
from abacus.engage.rules.decide.reading import OPERATORS, parse_rule, rule_document
from abacus.engage.rules.decide.types import AllOf, AnyOf, Condition, Not, Operator, Place, Rule, Side
from tests.engage.rules.orders import NOON, RESOLVE, VARIABLES, order
from tests.engage.rules.plain import holds

texts = st.text(alphabet="abAB'\"\\{}%\n", max_size=4)
VALUES: Mapping[VariableType, st.SearchStrategy[Any]] = {
    VariableType.TEXT: texts,
    VariableType.INTEGER: st.integers(-3, 3),
    VariableType.DECIMAL: st.decimals(-3, 3, places=1),
    VariableType.BOOLEAN: st.booleans(),
    VariableType.TIME: st.integers(0, 3).map(lambda days: NOON + timedelta(days=days)),
    VariableType.TEXTS: st.lists(texts, max_size=3).map(tuple),
}
LOOKED_UP = Side("member.tier", VariableType.TEXT, Place.LOOKED_UP, "tier")
sides = st.sampled_from([*(RESOLVE(f"var.{name}") for name in VARIABLES), RESOLVE("event.country"), LOOKED_UP])


@st.composite
def conditions(draw: st.DrawFn) -> Rule:
    side = draw(sides)
    operator = draw(st.sampled_from(OPERATORS[side.type]))
    one = texts if side.type is VariableType.TEXTS else VALUES[side.type]
    match operator:
        case Operator.EXISTS:
            return Condition(operator, side)
        case Operator.IN:
            return Condition(operator, side, draw(st.frozensets(one, min_size=1, max_size=3)))
        case Operator.BETWEEN:
            lowest, highest = sorted([draw(one), draw(one)])
            return Condition(operator, side, (lowest, highest))
        case _:
            return Condition(operator, side, draw(one))


def groups(inner: st.SearchStrategy[Rule]) -> st.SearchStrategy[Rule]:
    some = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(some.map(AllOf), some.map(AnyOf), inner.map(Not))


rules = st.recursive(conditions(), groups, max_leaves=8)
variables = st.fixed_dictionaries({}, optional={name: VALUES[kind] for name, kind in VARIABLES.items()})
looked_up = st.fixed_dictionaries({}, optional={"member.tier": texts})


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
