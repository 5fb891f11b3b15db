"""Rules are about facts of any kind: a request with variables and a member, and no event, is one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given

from abacus.core.fields import Bad
from abacus.signals.events.types import Value, VariableType
from abacus.signals.facts.decide.catalog import SEGMENT, Catalog, FixedSides, segment_sides
from abacus.signals.facts.members import SegmentFacts
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry, Wish
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.index import RuleIndex
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.sides import of_facts
from abacus.signals.rules.decide.types import Condition, FactPlace, Operator, Origin, Rule, Side
from tests.signals.facts.requests import REQUESTS, Request
from tests.signals.rules.any_rules import looked_up, rules, variables
from tests.signals.rules.orders import VARIABLES, order
from tests.signals.rules.plain import holds

ALL = "var.amount, var.city, var.pooled, var.seats, var.tags, var.wanted_at"
SHOWN = Origin("shown", cost=5)
CATALOG = Catalog(segment_sides({"regulars"}), FixedSides(SHOWN, {"shown.times": VariableType.INTEGER}))
RESOLVE = CATALOG.resolver(of_facts(REQUESTS, VARIABLES))


class Asking(NamedTuple):
    """A member who asks, and how often the offer was shown."""

    facts: Request
    shown: int = 0

    @property
    def member_id(self) -> str:
        return self.facts.member_id or ""


class ShownFacts:
    """A source that a room above registers."""

    origin = SHOWN

    async def load(self, wanted: Sequence[Wish[Asking]]) -> Sequence[Value]:
        return [subject.shown for subject, _ in wanted]


async def in_segments(pairs: Any) -> Any:
    return {pair: pair == ("regulars", "bob") for pair in pairs}


def is_(operator: str, lhs: str, rhs: object) -> dict[str, object]:
    return {"operator": operator, "lhs": lhs, "rhs": rhs}


WHEN = parse_rule(
    {
        "operator": "and",
        "conditions": [
            is_("eq", "request.placement", "home"),
            is_("eq", "var.city", "Bandung"),
            is_("eq", "segment.regulars", True),
            is_("lt", "shown.times", 3),
        ],
    },
    RESOLVE,
)


@pytest.mark.parametrize(
    ("placement", "city", "member", "shown", "expected"),
    [
        ("home", "Bandung", "bob", 2, True),
        ("ride", "Bandung", "bob", 2, False),
        ("home", "Jakarta", "bob", 2, False),
        ("home", "Bandung", "eve", 2, False),
        ("home", "Bandung", "bob", 3, False),
        ("home", "Bandung", None, 2, False),
    ],
)
async def test_a_rule_about_a_request(
    placement: str, city: str, member: str | None, shown: int, *, expected: bool
) -> None:
    request = Request(placement, member, "ID", {"city": city})
    registry: FactRegistry[Asking] = FactRegistry(ShownFacts(), SegmentFacts(in_segments))
    (decision,) = await decide_all([Question(Asking(request, shown), RulePlan(WHEN))], registry)
    assert decision.holds is expected


@given(rules, variables, looked_up)
def test_a_request_is_judged_as_an_event_with_the_same_variables(
    rule: Rule, values: dict[str, Value], found: dict[str, Value]
) -> None:
    request, event, index = Request("home", "bob", "ID", values), order(values), RuleIndex()
    index.put(0, rule)
    assert compile_rule(rule)(request, found) is holds(rule, event, found)
    assert index.may_hold(request) == index.may_hold(event)
    assert RulePlan(rule).decide(request, found) == RulePlan(rule).decide(event, found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("event.country", "'event.country' is unknown here; did you mean request.country?"),
        ("var.kilometres", f"'var.kilometres' is unknown here; the requests have {ALL}"),
        ("segment.regular", "no segment 'regular' is defined; did you mean regulars?"),
        ("shown.time", "'shown.time' is unknown; did you mean shown.times?"),
        ("shown.how_often_today", "'shown.how_often_today' is unknown; there are shown.times"),
    ],
)
def test_what_a_request_does_not_have_is_refused(text: str, words: str) -> None:
    with pytest.raises(Bad) as refused:
        RESOLVE(text)
    assert str(refused.value) == words


def test_the_left_sides_to_choose_from() -> None:
    assert CATALOG.types() == {"segment.regulars": VariableType.BOOLEAN, "shown.times": VariableType.INTEGER}


def test_no_two_origins_have_one_name() -> None:
    again = FixedSides(Origin(SEGMENT.name, cost=99), {})
    with pytest.raises(ValueError, match="two origins have one name"):
        Catalog(segment_sides(()), again)
    with pytest.raises(ValueError, match="two origins have one name"):
        FactRegistry(ShownFacts(), ShownFacts())


@pytest.mark.parametrize("field", ["_asdict", "__class__", "member id", ""])
def test_a_field_is_a_public_name(field: str) -> None:
    with pytest.raises(ValueError, match="no field"):
        compile_rule(Condition(Operator.EXISTS, Side("request.x", VariableType.TEXT, FactPlace.FIELD, field)))
