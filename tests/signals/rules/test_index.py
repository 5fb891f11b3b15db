"""The index finds the rules that a plain evaluator finds, also after rules were changed and left out."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.index import RuleIndex
from abacus.signals.rules.decide.types import Rule
from tests.signals.rules.any_rules import looked_up, place_rules, regions, rules, variables
from tests.signals.rules.orders import order
from tests.signals.rules.plain import holds

some_rules = st.lists(st.none() | rules, max_size=12)


def found(index: RuleIndex, event: Event, looked: dict[str, Value]) -> set[int]:
    numbers = set()
    for number in index.may_hold(event):
        later = index.later(number)
        if later is None or compile_rule(later)(event, looked):
            numbers.add(number)
    return numbers


def plainly(some: Sequence[Rule | None], event: Event, looked: dict[str, Value]) -> set[int]:
    return {number for number, rule in enumerate(some) if rule is None or holds(rule, event, looked)}


@given(some_rules, st.lists(variables, min_size=1, max_size=4), looked_up)
def test_it_finds_what_a_plain_evaluator_finds(
    some: list[Rule | None], events: list[dict[str, Value]], looked: dict[str, Value]
) -> None:
    index = RuleIndex()
    for number, rule in enumerate(some):
        index.put(number, rule)
    for values in events:
        event = order(values)
        assert found(index, event, looked) == plainly(some, event, looked)


@given(st.lists(place_rules, max_size=12), st.lists(regions, min_size=1, max_size=4), variables, looked_up)
def test_it_finds_what_asks_for_places(
    some: list[Rule], where: list[tuple[str, ...] | None], values: dict[str, Value], looked: dict[str, Value]
) -> None:
    index = RuleIndex()
    for number, rule in enumerate(some):
        index.put(number, rule)
    for each in where:
        event = order(values)._replace(regions=each)
        assert found(index, event, looked) == plainly(some, event, looked)
        for rule in some:
            assert compile_rule(rule)(event, looked) == holds(rule, event, looked)


@given(some_rules, some_rules, st.sets(st.integers(0, 11)), variables, looked_up)
def test_changed_rules_are_as_if_they_had_been_there_from_the_start(
    before: list[Rule | None],
    after: list[Rule | None],
    gone: set[int],
    values: dict[str, Value],
    looked: dict[str, Value],
) -> None:
    index = RuleIndex()
    for some in (before, after):
        for number, rule in enumerate(some):
            index.put(number, rule)
    for number in gone:
        index.remove(number)
    now = after + before[len(after) :]
    event = order(values)
    assert found(index, event, looked) == plainly(now, event, looked) - gone
    assert len(index) == len(set(range(len(now))) - gone)
