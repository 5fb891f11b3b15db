"""Any rule, and values for it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.document import OPERATORS
from abacus.signals.rules.decide.place_sides import PlaceSides
from abacus.signals.rules.decide.sides import of_event
from abacus.signals.rules.decide.types import (
    AllOf,
    AnyOf,
    Condition,
    Not,
    Operator,
    Origin,
    Rule,
    Side,
)
from abacus.signals.rules.decide.types import (
    looked_up as looked_up_side,
)
from tests.signals.rules.orders import NOON, RESOLVE, VARIABLES

texts = st.text(alphabet="abAB'\"\\{}%\n", max_size=4)
VALUES: Mapping[VariableType, st.SearchStrategy[Any]] = {
    VariableType.TEXT: texts,
    VariableType.INTEGER: st.integers(-3, 3),
    VariableType.DECIMAL: st.decimals(-3, 3, places=1),
    VariableType.BOOLEAN: st.booleans(),
    VariableType.TIME: st.integers(0, 3).map(lambda days: NOON + timedelta(days=days)),
    VariableType.TEXTS: st.lists(texts, max_size=3).map(tuple),
}
LOOKED_UP = looked_up_side(Origin("member", cost=1), "member.tier", VariableType.TEXT)
sides = st.sampled_from([*(RESOLVE(f"var.{name}") for name in VARIABLES), RESOLVE("event.country"), LOOKED_UP])


REGIONS = ("park", "west", "east")
_WHERE = of_event({}, PlaceSides(REGIONS, lambda: None))
place_sides = st.sampled_from([_WHERE("place.region"), *(_WHERE(f"place.{name}") for name in REGIONS)])
regions = st.none() | st.lists(st.sampled_from(REGIONS), unique=True).map(tuple)


@st.composite
def conditions(draw: st.DrawFn, sides: st.SearchStrategy[Side] = sides) -> Rule:
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
place_rules = st.recursive(conditions(place_sides | sides), groups, max_leaves=8)
variables = st.fixed_dictionaries({}, optional={name: VALUES[kind] for name, kind in VARIABLES.items()})
looked_up = st.fixed_dictionaries({}, optional={"member.tier": texts})
