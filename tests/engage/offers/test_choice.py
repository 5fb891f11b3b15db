"""What an asker is told: points beside money, what has to be looked up, what cannot be told, and why not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from abacus.engage.limits.types import Bound, Limits
from abacus.engage.offers.decide.asker import Wanted
from abacus.engage.offers.decide.choice import Choice, Found, best, judge
from abacus.engage.offers.decide.line_up import MOST
from abacus.engage.offers.decide.offer import Audience, Benefit, Gate, Offer, Scope, Values
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.refusal import Refusal
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import MEMBER, SEGMENT, TIER
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, FactPlace, Not, Operator, Rule, Side, looked_up
from tests.engage.offers.any_offers import COUNT
from tests.engage.offers.examples import (
    AMOUNT,
    ASKER,
    NOW,
    PERCENT,
    PLUS,
    TIMES,
    benefit,
    item,
    offer,
    question,
    within,
)

TEN = benefit(PERCENT, "10")
ORDERS = Condition(Operator.GTE, COUNT, 3)
GOLD = Condition(Operator.IN, looked_up(MEMBER, TIER, VariableType.TEXT), frozenset({"gold", "platinum"}))
VIP = Condition(Operator.EQ, looked_up(SEGMENT, "segment.vip", VariableType.BOOLEAN), rhs=True)
CITY = Side("var.city", VariableType.TEXT, FactPlace.VARIABLE, "city")
AMOUNT_SIDE = Side("var.amount", VariableType.DECIMAL, FactPlace.VARIABLE, "amount")
KL = Condition(Operator.EQ, CITY, "kl")
ASKED = question(item(2000))


def index_of(*offers: Offer | tuple[Offer, Rule]) -> OfferIndex:
    index = OfferIndex()
    for each in offers:
        index.put(*(each if isinstance(each, tuple) else (each, None)))
    return index


def again_and_again(index: OfferIndex) -> list[int]:
    """What is found each time that the item is asked for."""
    first, *others = [numbers(best(index, ASKER, ASKED)) for _ in range(3)]
    assert others == [first, first]
    return first


def numbers(choice: Choice | Wanted) -> list[int]:
    assert isinstance(choice, Choice)
    return [each.offer.number for each in choice.fitting()]


@pytest.mark.parametrize(
    ("value", "order"),
    [
        (None, [1, 3, 2]),  # points that are worth nothing stand behind all money, the most first
        (Fraction(1, 10), [1, 3, 2]),
        (Fraction(2), [1, 3, 2]),  # as much as the percentage, which has the lower number
        (Fraction(3), [3, 1, 2]),
        (Fraction(5), [3, 2, 1]),
    ],
)
def test_points_beside_money(value: Fraction | None, order: Sequence[int]) -> None:
    """The percentage saves 200 cents; the points are 50 and 100."""
    index = index_of(offer(1, TEN), offer(2, benefit(PLUS, "50")), offer(3, benefit(TIMES, "3")))
    choice = best(index, ASKER._replace(point_value=value), ASKED._replace(earns=50))
    assert numbers(choice) == order


def test_points_are_the_best_where_no_money_is() -> None:
    choice = best(index_of(offer(1, benefit(PLUS, "50"))), ASKER, ASKED)
    assert isinstance(choice, Choice)
    assert choice.best is not None
    assert (choice.best.saves, choice.best.points, choice.best.worth) == (0, 50, 0)


def test_higher_priority_goes_first_where_the_saving_is_equal() -> None:
    early = {"ends_at": NOW + timedelta(days=1)}
    index = index_of(offer(1, TEN, **early), offer(2, TEN, priority=1), offer(3, benefit(AMOUNT, "2.01")))
    assert numbers(best(index, ASKER, ASKED)) == [3, 2, 1]


def test_offers_that_save_as_much_stand_in_one_order_however_they_came() -> None:
    """Whatever terms save as much, and in whatever order their offers came."""
    index = index_of(*(offer(number, TEN) for number in (3, 4, 5, 6, 2)), offer(1, benefit(AMOUNT, "2")))
    assert again_and_again(index) == [1, 2, 3]


def test_an_offer_with_terms_of_its_own_that_comes_after_a_question_is_found() -> None:
    index = index_of(*(offer(number, benefit(PERCENT, str(number))) for number in range(1, 6)))
    assert numbers(best(index, ASKER, ASKED)) == [5, 4, 3]
    index.put(offer(6, benefit(PERCENT, "6")), None)
    assert numbers(best(index, ASKER, ASKED)) == [6, 5, 4]
    index.remove(5)
    assert numbers(best(index, ASKER, ASKED)) == [6, 4, 3]


def test_few_offers_behind_many_for_others_are_found_again_and_again() -> None:
    """A line-up keeps some of the many, and no more."""
    many = [(offer(number, benefit(PERCENT, "20")), GOLD) for number in range(1, MOST + 50)]
    few = [offer(number, TEN) for number in range(1001, 1005)]
    index = index_of(*many, *few)
    assert again_and_again(index) == [1001, 1002, 1003]
    asked = index.ask(ASKER, ASKED)
    line_up = index.line_up(asked)
    assert line_up is not None
    assert len(list(line_up.offers(asked))) == MOST


def test_an_item_that_is_asked_for_again_and_again_has_what_came_and_went() -> None:
    index = index_of(*(offer(number, benefit(PERCENT, str(number))) for number in range(1, 6)))
    assert again_and_again(index) == [5, 4, 3]
    index.put(offer(6, benefit(PERCENT, "6")), None)
    assert again_and_again(index) == [6, 5, 4]
    index.put(offer(7, benefit(PERCENT, "6")), None)
    assert again_and_again(index) == [6, 7, 5]
    index.remove(6)
    assert again_and_again(index) == [7, 5, 4]
    index.put(offer(8, benefit(PERCENT, "8")), None)
    elsewhere = offer(9, benefit(PERCENT, "9"), scope=Scope(values=within("product p2")))
    for _ in range(1_000):  # so many changes that they are no longer compared
        index.put(elsewhere, None)
    assert again_and_again(index) == [8, 7, 5]


def test_an_item_is_asked_for_by_members_of_many_kinds() -> None:
    """Whoever is told less has to look further than the one before."""
    index = index_of((offer(1, benefit(PERCENT, "30")), GOLD), (offer(2, TEN), VIP), offer(3, benefit(PERCENT, "5")))
    gold, vip = ASKER._replace(tier="gold"), ASKER._replace(in_segment=lambda _: True)
    for _ in range(2):
        assert numbers(best(index, gold, ASKED)) == [1, 3]
        assert numbers(best(index, ASKER, ASKED)) == [3]
        assert numbers(best(index, vip, ASKED)) == [2, 3]


def test_what_has_to_be_looked_up_is_wanted_all_at_once() -> None:
    other = replace(COUNT, text="counter.rides(1d)", name="rides(1d)")
    index = index_of((offer(1, TEN), ORDERS), (offer(2, TEN), Condition(Operator.GTE, other, 3)), offer(3, TEN))
    assert best(index, ASKER, ASKED) == Wanted(frozenset({COUNT, other}))
    known = {COUNT.text: 3, other.text: None}
    assert numbers(best(index, ASKER, ASKED._replace(looked_up=known))) == [1, 3]


def test_nothing_is_looked_up_for_an_offer_that_memory_refuses() -> None:
    index = index_of((offer(1, TEN), AllOf((ORDERS, KL))), (offer(2, TEN, price=Gate(Decimal(50))), ORDERS))
    assert numbers(best(index, ASKER, ASKED)) == []


@pytest.mark.parametrize(
    ("rule", "asker"),
    [
        (GOLD, {"not_now": {TIER}}),
        (Not(GOLD), {"not_now": {TIER}}),
        (VIP, {"in_segment": lambda _: None}),
        (Not(VIP), {"in_segment": lambda _: None}),
        (ORDERS, {"not_now": {COUNT.text}}),
    ],
)
def test_what_cannot_be_told_leaves_an_offer_out(rule: Rule, asker: Mapping[str, Any]) -> None:
    choice = best(index_of((offer(1, TEN), rule), offer(2, TEN)), ASKER._replace(**asker), ASKED)
    assert numbers(choice) == [2]
    assert isinstance(choice, Choice)
    assert choice.is_uncertain


def test_an_answer_of_which_nothing_was_left_out_is_certain() -> None:
    choice = best(index_of((offer(1, TEN), GOLD)), ASKER, ASKED)
    assert isinstance(choice, Choice)
    assert not choice.is_uncertain


def test_a_variable_of_another_type_fails_the_rule() -> None:
    rule = Condition(Operator.GT, AMOUNT_SIDE, Decimal(1))
    asked = question(item(2000, variables={"amount": "much"}))
    assert numbers(best(index_of((offer(1, TEN), rule)), ASKER, asked)) == []


def test_an_item_in_another_currency_finds_nothing() -> None:
    assert numbers(best(index_of(offer(1, TEN)), ASKER, question(item(2000, currency="MYR")))) == []


def test_an_offer_by_code_is_found_by_its_code() -> None:
    by_code = offer(1, TEN, audience=Audience.CODE, code="LUNCH")
    index = index_of(by_code)
    armed = index.by_code("SG", "LUNCH")
    assert armed is not None
    assert numbers(best(index, ASKER, ASKED)) == []
    assert numbers(best(index, ASKER._replace(admitted=frozenset({armed.number})), ASKED)) == [1]
    index.put(replace(by_code, code="DINNER"), None)
    assert index.by_code("SG", "LUNCH") is None
    index.remove(1)
    assert index.by_code("SG", "DINNER") is None
    assert index.named("offer_1") is None


NO_MORE = Limits(overall=Bound(runs=1), member=Bound(runs=1))


@pytest.mark.parametrize(
    ("changes", "rule", "reason", "needs"),
    [
        ({"price": Gate(Decimal(25))}, None, Reason.PRICE, "a price of SGD 25.00 or more"),
        ({"price": Gate(below=Decimal(20))}, None, Reason.PRICE, "a price below SGD 20.00"),
        ({"quantity": Gate(Decimal(3))}, None, Reason.QUANTITY, "take 2 more"),
        ({"quantity": Gate(below=Decimal(1))}, None, Reason.QUANTITY, "take at most 0"),
        ({"basket_minimum": Decimal("24.20")}, None, Reason.BASKET, "spend SGD 4.20 more"),
        ({}, GOLD, Reason.TIER, "gold or platinum members only"),
        ({}, AllOf((GOLD, Condition(Operator.EQ, GOLD.lhs, "gold"))), Reason.TIER, "gold members only"),
        ({"scope": Scope(everything=True, excepted=within("brand b1"))}, None, Reason.SCOPE, "not for brand b1"),
        ({"audience": Audience.INVITATION}, None, Reason.ADMISSION, "an invitation"),
        ({"audience": Audience.CODE}, None, Reason.ADMISSION, "a code"),
        ({"number": 2, "limits": NO_MORE}, None, Reason.SPENT, "the budget is used up"),
        ({"number": 3, "limits": NO_MORE}, None, Reason.USED, "the member's limit is reached"),
        ({"starts_at": NOW + timedelta(hours=1)}, None, Reason.TIME, "from 2026-11-27 21:00 (Asia/Singapore) on"),
        ({"approved_at": NOW + timedelta(hours=1)}, None, Reason.TIME, "from 2026-11-27 21:00 (Asia/Singapore) on"),
        ({"ends_at": NOW}, None, Reason.TIME, "ended at 2026-11-27 20:00 (Asia/Singapore)"),
        ({"weekdays": frozenset({5})}, None, Reason.TIME, "not on this day of the week, or not at this hour"),
        ({"hours": ((9 * 60, 20 * 60),)}, None, Reason.TIME, "not on this day of the week, or not at this hour"),
        ({}, VIP, Reason.SEGMENT, "members of the segment vip only"),
        ({}, KL, Reason.RULE, "var.city is kl"),
        ({}, AllOf((KL, Not(Condition(Operator.EXISTS, AMOUNT_SIDE)))), Reason.RULE, "var.city is kl"),
        ({}, AnyOf((KL, ORDERS)), Reason.RULE, "(var.city is kl or counter.orders(1d) at least 3)"),
        ({"benefit": benefit(PERCENT, "0.01")}, None, Reason.NOTHING, "it saves nothing on this item"),
    ],
)
def test_why_not(changes: Mapping[str, Any], rule: Rule | None, reason: Reason, needs: str) -> None:
    """An offer that one condition keeps from the item came close, and `judge` names the same condition."""
    refused = replace(offer(1, TEN), **changes)
    index = OfferIndex()
    index.put(refused, rule)
    index.spent = {2}
    asker = ASKER._replace(tier="member", uses_left={3: 0})
    asked = ASKED._replace(looked_up={COUNT.text: 0})
    choice = best(index, asker, asked, explain=True)
    assert isinstance(choice, Choice)
    assert choice.best is None
    assert choice.refused == (Refusal(refused, reason, needs),)
    armed = index.named("offer_1")
    assert armed is not None
    assert judge(armed, index.ask(asker, asked)) == Refusal(refused, reason, needs)


def test_an_offer_that_fails_twice_did_not_come_close() -> None:
    choice = best(index_of((offer(1, TEN, quantity=Gate(Decimal(3))), KL)), ASKER, ASKED, explain=True)
    assert isinstance(choice, Choice)
    assert choice.refused == ()


def judged(of: Offer, rule: Rule | None = None) -> Found | Refusal | Wanted:
    index = OfferIndex()
    index.put(of, rule)
    armed = index.named(of.name)
    assert armed is not None
    return judge(armed, index.ask(ASKER, ASKED))


def test_one_offer_by_itself() -> None:
    fits, other = offer(1, TEN), offer(1, TEN, scope=Scope(values=Values(products=frozenset({"p2"}))))
    assert judged(fits) == Found(fits, saves=200, points=0, worth=200)
    elsewhere = offer(1, TEN, scope=Scope(everything=True, values=within("region centre", "place s1")))
    assert judged(other) == Refusal(other, Reason.SCOPE, "not for this item")
    assert judged(elsewhere) == Refusal(elsewhere, Reason.SCOPE, "only for place s1 or region centre")
    assert judged(fits, ORDERS) == Wanted(frozenset({COUNT}))


def test_benefits_in_points_keep_their_kind() -> None:
    points = offer(1, Benefit(PLUS, Decimal(50)))
    assert judged(points) == Found(points, saves=0, points=50, worth=0)
