"""Any offers with their rules, and any questions about them: few values, so that much is equal and much fits."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from hypothesis import strategies as st

from abacus.engage.limits.types import Bound, Limits
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.offer import Audience, Benefit, Gate, Offer, Scope, Values
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import MEMBER, SEGMENT, TIER
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.rules.decide.types import AllOf, Condition, FactPlace, Not, Operator, Rule, Side, looked_up
from tests.engage.offers.examples import (
    AMOUNT,
    ASKER,
    EVERYTHING,
    FIXED,
    FREE,
    NOW,
    PERCENT,
    PLUS,
    TIMES,
    item,
    offer,
    within,
)

COUNT: Final = looked_up(COUNTER, "counter.orders(1d)", VariableType.INTEGER)
_CITY: Final = Side("var.city", VariableType.TEXT, FactPlace.VARIABLE, "city")
_COUNTRY: Final = Side("country", VariableType.TEXT, FactPlace.FIELD, "country")
_VIP: Final = looked_up(SEGMENT, "segment.vip", VariableType.BOOLEAN)
_TIERED: Final = looked_up(MEMBER, TIER, VariableType.TEXT)
_NUMBERS: Final = range(1, 40)

_CONDITIONS: Final[tuple[Rule, ...]] = (
    Condition(Operator.IN, _TIERED, frozenset({"gold", "platinum"})),
    Condition(Operator.EQ, _TIERED, "gold"),
    Not(Condition(Operator.EQ, _TIERED, "gold")),
    Condition(Operator.EQ, _VIP, rhs=True),
    Condition(Operator.EQ, _VIP, rhs=False),
    Condition(Operator.EQ, _CITY, "kl"),
    Condition(Operator.EQ, _COUNTRY, "SG"),
    Condition(Operator.GTE, COUNT, 3),
)
_SOME: Final = ("product p1", "merchant m1", "brand b1", "brand b2", "category food", "category noodles")


_SOMEWHERE: Final = ("place s1", "place s2", "region centre", "region east")


def _values(*, least: int, of: Sequence[str] = _SOME) -> st.SearchStrategy[Values]:
    return st.frozensets(st.sampled_from(of), min_size=least, max_size=2).map(lambda keys: within(*keys))


@st.composite
def _scopes(draw: st.DrawFn) -> Scope:
    """For all items or some, anywhere or somewhere."""
    scope = draw(st.one_of(st.just(EVERYTHING), _values(least=1).map(lambda values: Scope(values=values))))
    where = draw(_values(least=0, of=_SOMEWHERE))
    return scope._replace(values=scope.values._replace(places=where.places, regions=where.regions))


_caps: Final = st.sampled_from((None, Decimal(4), Decimal(12)))
_benefits: Final = st.one_of(
    st.tuples(st.just(PERCENT), st.sampled_from(("5", "12.5", "33.333", "50", "100")).map(Decimal), _caps),
    st.tuples(st.just(AMOUNT), st.sampled_from((Decimal(1), Decimal(4), Decimal(25))), st.none()),
    st.tuples(st.just(FIXED), st.sampled_from((Decimal("3.95"), Decimal(10))), _caps),
    st.tuples(st.just(FREE), st.just(Decimal(0)), st.none()),
    st.tuples(st.just(TIMES), st.sampled_from((Decimal("1.5"), Decimal(3))), _caps),
    st.tuples(st.just(PLUS), st.sampled_from((Decimal(10), Decimal(400))), st.none()),
).map(lambda parts: Benefit(*parts))
_rules: Final = st.lists(st.sampled_from(_CONDITIONS), max_size=2).map(
    lambda parts: None if not parts else parts[0] if len(parts) == 1 else AllOf(tuple(parts))
)


_conditions: Final[Mapping[str, st.SearchStrategy[Any]]] = {
    "price": st.sampled_from((Gate(Decimal(8)), Gate(Decimal(5), Decimal(20)), Gate(below=Decimal(8)))),
    "quantity": st.sampled_from((Gate(Decimal(2)), Gate(Decimal(1), Decimal(3)))),
    "basket_minimum": st.just(Decimal(30)),
    "audience": st.sampled_from((Audience.INVITATION, Audience.CODE)),
    "starts_at": st.sampled_from((NOW, NOW + timedelta(hours=1))),
    "approved_at": st.sampled_from((NOW, NOW + timedelta(hours=1))),
    "ends_at": st.sampled_from((NOW, NOW + timedelta(hours=1))),
    "weekdays": st.sampled_from((frozenset({4}), frozenset({5}))),  # it is Friday
    "hours": st.sampled_from((((0, 20 * 60),), ((20 * 60, 24 * 60),))),  # eight in the evening
    "country": st.just("MY"),
}
_RULED: Final = ("rule", "excepted")  # conditions of which more is drawn


@st.composite
def offers(draw: st.DrawFn) -> tuple[Offer, Rule | None]:
    """An offer of any number, with two conditions at most beside its scope, and its rule."""
    scope = draw(_scopes())
    changes: dict[str, Any] = {
        "priority": draw(st.sampled_from((0, 0, 1))),
        "ends_at": NOW + timedelta(days=draw(st.sampled_from((3, 3, 4)))),
        "limits": Limits(overall=Bound(runs=9), member=Bound(runs=2)),
    }
    some = draw(st.lists(st.sampled_from((*_conditions, *_RULED, *_RULED)), max_size=2, unique=True))
    changes |= {each: draw(_conditions[each]) for each in some if each in _conditions}
    if "excepted" in some:
        scope = scope._replace(excepted=draw(_values(least=1, of=(*_SOME, *_SOMEWHERE))))
    rule = draw(_rules) if "rule" in some else None
    return offer(draw(st.sampled_from(_NUMBERS)), draw(_benefits), scope=scope, **changes), rule


@st.composite
def questions(draw: st.DrawFn) -> Question:
    price = draw(st.one_of(st.integers(1, 9000), st.sampled_from((0, 499, 500, 799, 800, 2000))))
    place, regions = draw(st.sampled_from(((None, ()), ("s1", ("centre", "east")), ("s2", ("east",)), ("s3", ()))))
    of = item(
        price,
        draw(st.sampled_from((1, 1, 2, 3))),
        brand=draw(st.sampled_from(("b1", "b2", "b3"))),
        variables=draw(st.sampled_from(({}, {"city": "kl"}, {"city": "sg"}, {"city": 7}))),
        place=place,
        regions=regions,
    )
    count = draw(st.sampled_from((None, 2, 3)))
    basket = of.line + draw(st.sampled_from((0, 2500)))
    return Question(of, basket, draw(st.sampled_from((0, 30, 700))), {COUNT.text: count})


@st.composite
def askers(draw: st.DrawFn) -> Asker:
    is_vip = draw(st.booleans())
    return ASKER._replace(
        tier=draw(st.sampled_from((None, "member", "gold"))),
        admitted=draw(st.frozensets(st.sampled_from(_NUMBERS), max_size=20)),
        in_segment=lambda _: is_vip,
        uses_left=draw(st.dictionaries(st.sampled_from(_NUMBERS), st.sampled_from((0, 1)), max_size=4)),
        point_value=draw(st.sampled_from((None, Fraction(1, 200), Fraction(3)))),
    )


spent: Final = st.frozensets(st.sampled_from(_NUMBERS), max_size=4)
