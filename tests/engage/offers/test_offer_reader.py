"""The document of an offer: every fault with its path, and the way there and back."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from abacus.core.document_text import read_toml
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.document import described, to_document, to_toml
from abacus.engage.offers.decide.offer import (
    Audience,
    Benefit,
    BenefitKind,
    Gate,
    Payer,
    Scope,
    Stack,
    Stacking,
    Values,
)
from abacus.engage.offers.decide.offer_reader import OfferFaults, parse_offer, restore_offer
from abacus.engage.offers.decide.scope_reader import named_spots
from abacus.engage.offers.decide.vocabulary import typed_by_use
from abacus.signals.events.types import VariableType
from tests.engage.offers.examples import within
from tests.support.offers import document, offer, publications

BIG = {"operator": "gte", "lhs": "var.size", "rhs": 2}
ALL = {"everything": True}
TIMES = {"points_times": "2"}


def faults(document: dict[str, Any]) -> list[str]:
    """What is wrong with it, as text."""
    with pytest.raises(OfferFaults) as caught:
        parse_offer(document, publications())
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"name": "Lunch"}, "name: 'Lunch' is not a name; write at most 64 small letters, digits and underscores, be"),
        ({"nmae": "x"}, "nmae: unknown; did you mean name?"),
        ({"country": "XX", "scope": ALL}, "country: no rate card of XX is in force, so it is not known what is paid"),
        ({"ends_at": "2026-11-02T00:00:00+08:00"}, "ends_at: is over already"),
        ({"currency": "IDR"}, "currency: 'IDR', but SG pays in SGD"),
        ({"currency": "sgd"}, "currency: 'sgd' is not a currency; write three capitals (SGD)"),
        ({"audience": None}, "audience: missing"),
        ({"audience": "all"}, "audience: 'all' is not an audience; write one of public, invitation, code"),
        ({"code": "LUNCH20"}, 'code: the audience is public; leave the code out, or write audience = "code"'),
        ({"codes": "pool"}, 'codes: the audience is public; leave the codes out, or write audience = "code"'),
        ({"audience": "code"}, 'code: nothing; write the code of everybody, or codes = "pool" for single codes'),
        ({"audience": "code", "codes": "many"}, "codes: 'many'; write codes = \"pool\""),
        ({"audience": "code", "codes": "pool", "code": "LUNCH20"}, "codes: beside a public code"),
        (
            {"name": "tea", "audience": "code", "codes": "pool"},
            "codes: a pool without codes; load some: abacus offers codes load tea FILE",
        ),
        ({"audience": "code", "code": "x"}, "code: 'x' is not a code; write 3 to 32 capitals, digits and dashes"),
        ({"priority": 1001}, "priority: 1001 is not between 0 and 1000"),
        ({"benefit": None}, "benefit: missing"),
        ({"benefit": {"cap": "5"}}, "benefit: gives nothing; write one of percent, amount_off, fixed_price, free_item"),
        ({"benefit": {"percent": "20", "amount_off": "1"}}, "benefit.amount_off: beside percent; an offer gives one"),
        ({"benefit": {"percent": "100.1"}}, "benefit.percent: '100.1'; write a percentage above 0 and up to 100"),
        ({"benefit": {"percent": "0"}}, "benefit.percent: '0'; write a percentage above 0 and up to 100"),
        ({"benefit": {"percent": "-5"}}, "benefit.percent: '-5' is negative"),
        ({"benefit": {"percent": 20}}, 'benefit.percent: 20 is an integer; write it as a string, "20"'),
        ({"benefit": {"percent": "0.00001"}}, "benefit.percent: '0.00001' has more than 4 decimals"),
        ({"benefit": {"amount_off": "1.005"}}, "benefit.amount_off: '1.005' has more decimals than the 2 that the"),
        ({"benefit": {"amount_off": "0"}}, "benefit.amount_off: '0'; write an amount of money above 0"),
        ({"benefit": {"percent": "5", "cap": "0.001"}}, "benefit.cap: '0.001' has more decimals than the 2 that"),
        ({"benefit": {"free_item": False}}, "benefit.free_item: false; write true, or leave it out"),
        ({"benefit": {"points_times": "1"}}, "benefit.points_times: '1'; write how many times the points are given"),
        ({"benefit": {"points_plus": "5"}}, "benefit.points_plus: '5' is a string; write a whole number without"),
        ({"benefit": {**TIMES, "cap": "5.00"}}, "benefit.cap: '5.00' is a string; write a whole number without"),
        ({"benefit": TIMES, "limits": {"money": {"day": "5"}}}, "limits.money: the benefit is points; limit its uses"),
        (
            {"limits": {"money": {"day": "0.001"}}},
            "limits.money.day: '0.001'; write an amount of money above 0 with at",
        ),
        ({"limits": {}}, "limits.uses: no limit; write limits of uses or money, or unlimited = true"),
        ({"limits": {"runs": {"day": 5}}}, "limits.runs: unknown"),
        ({"limits": {"money": {"day": "5", "cost_of_point": "1"}}}, "limits.money.cost_of_point: unknown"),
        ({"limits": {"unlimited": True, "uses": {"day": 5}}}, "limits.unlimited: true beside uses; leave out the one"),
        ({"scope": {}}, "scope: is for no item; write everything = true, or some of products, merchants, brands, cat"),
        ({"scope": {"everything": False}}, "scope: is for no item; write everything = true, or some of products,"),
        ({"scope": {**ALL, "brands": ["b"]}}, "scope.everything: true beside brands; leave out the one or the other"),
        ({"scope": {"brands": []}}, "scope.brands: 0 values; write 1 to 10,000"),
        ({"scope": {"brands": "b"}}, "scope.brands: 'b' is a string; write an array, such as"),
        ({"scope": {"brands": [" "]}}, "scope.brands: ' ' has 1 characters; write 1 to 128"),
        (
            {"scope": {"brands": ["b"], "except": {"brands": ["b"]}}},
            "scope.except.brands: 'b' is in the scope too: not",
        ),
        ({"scope": {"categories": ["fod"]}}, "scope.categories: SG has no category 'fod'; did you mean food?"),
        (
            {"scope": {"categories": ["thin"], "except": {"categories": ["food"]}}},
            "scope.except.categories: 'food' has 'thin' below it: nothing is left of that",
        ),
        ({"scope": {"places": ["lost"]}}, "scope.places: there is no place 'lost'"),
        ({"scope": {"places": ["bangsar"]}}, "scope.places: the place 'bangsar' is in MY"),
        ({"scope": {**ALL, "except": {"regions": ["east"]}}}, "scope.except.regions: there is no region 'east'"),
        ({"scope": {**ALL, "except": {}}}, "scope.except: empty; write some of products, merchants, brands, categor"),
        ({"scope": {**ALL, "except": {"shops": ["a"]}}}, "scope.except.shops: unknown"),
        ({"price": {"from": "5", "below": "5"}}, "price.below: 5 is not above 5: nothing lies between"),
        ({"price": {"from": "5.001"}}, "price.from: '5.001' has more decimals than the 2 that the currency has"),
        ({"price": {}}, "price: empty; write from, below or both"),
        ({"quantity": {"from": 0}}, "quantity.from: 0 is not between 1 and 1000000"),
        (
            {"benefit": {"fixed_price": "9"}, "price": {"below": "9"}},
            "price.below: no price below 9 is above the fixed",
        ),
        ({"basket_minimum": "0"}, "basket_minimum: '0'; write an amount of money above 0"),
        ({"stack": "group:"}, "stack: '' is not a name; write at most 64 small letters"),
        ({"stack": "never"}, "stack: 'never'; write alone, always or group:NAME"),
        ({"paid_by": {}}, "paid_by: nobody; write cost_centre or partner"),
        ({"paid_by": {"cost_centre": "a", "partner": "b"}}, "paid_by.partner: beside cost_centre; one of them pays"),
        (
            {"when": {**BIG, "lhs": "event.id"}},
            "when.lhs: 'event.id' is no fact of a request; write var.NAME for a val",
        ),
        ({"when": {**BIG, "lhs": "campaign.count"}}, "when.lhs: 'campaign.count' is no fact of a request; write var."),
        ({"when": {**BIG, "lhs": "countri"}}, "when.lhs: 'countri' is unknown here; did you mean country?"),
        ({"when": {**BIG, "lhs": "segment.clb"}}, "when.lhs: no segment 'clb' is defined; did you mean club?"),
        ({"when": {**BIG, "lhs": "counter.rids(7d)"}}, "when.lhs: no counter 'rids' is defined; did you mean rides?"),
        ({"when": {**BIG, "rhs": "big"}}, "when.operator: gte does not go with var.size, of type text; write"),
        (
            {"when": {"operator": "and", "conditions": [BIG, {**BIG, "operator": "eq", "rhs": "big"}]}},
            "when.conditions[1].rhs: 'big' is a string; write a whole number without quotes",
        ),
    ],
)
def test_every_fault_has_its_path(changes: dict[str, Any], fault: str) -> None:
    (found,) = faults(document(**changes))
    assert found.startswith(fault)


def test_all_faults_are_told_at_once() -> None:
    found = faults(document(name=None, benefit={"percent": "101"}, paid_by=None, scope={"brands": ["x"], "prices": []}))
    assert [each.partition(":")[0] for each in found] == ["name", "benefit.percent", "scope.prices", "paid_by"]


EVERYTHING: dict[str, Any] = {
    "about": "All that an offer can say",
    "currency": "SGD",
    "weekdays": ["mon", "sun"],
    "hours": ["11:00-14:00"],
    "audience": "code",
    "code": "LUNCH-20",
    "benefit": {"points_plus": 50, "cap": 500},
    "scope": {
        "products": ["A-1"],
        "merchants": ["m1"],
        "brands": ["b"],
        "categories": ["food"],
        "except": {"products": ["A-2"], "categories": ["thin"]},
    },
    "price": {"from": "4.50", "below": "9"},
    "quantity": {"from": 2, "below": 6},
    "basket_minimum": "20",
    "when": {
        "operator": "and",
        "conditions": [
            {"operator": "in", "lhs": "member.tier", "rhs": ["gold"]},
            {"operator": "between", "lhs": "var.weight", "rhs": ["1.5", "9"]},
            {"operator": "eq", "lhs": "var.pieces", "rhs": 3},
            {"operator": "eq", "lhs": "segment.club", "rhs": True},
            {"operator": "lt", "lhs": "counter.rides(7d)", "rhs": 5},
        ],
    },
    "limits": {"uses": {"overall": 9, "day": 5, "member": 2, "member_day": 1}},
    "stack": "group:lunch",
    "priority": 7,
    "paid_by": {"partner": "acme"},
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        EVERYTHING,
        {"benefit": {"amount_off": "1.50"}, "limits": {"money": {"overall": "500.50", "member": "3"}}},
        {"benefit": {"fixed_price": "0"}, "stack": "always", "limits": {"unlimited": True}},
        {"benefit": {"free_item": True}, "scope": ALL, "quantity": {"from": 2}},
        {"benefit": {"points_times": "1.5", "cap": 100}, "audience": "invitation"},
        {"audience": "code", "codes": "pool"},
        {"scope": {"regions": ["centre"]}},
        {"scope": {"categories": ["food"], "places": ["tanjong"], "except": {"regions": ["centre"]}}},
        {"country": "ID", "benefit": {"percent": "12.5"}, "scope": {"categories": ["anything"]}},
    ],
)
def test_there_and_back(changes: dict[str, Any]) -> None:
    read = offer(**changes)
    written = to_document(read)
    assert to_document(parse_offer(json.loads(json.dumps(written)), publications())) == written
    assert parse_offer(read_toml(to_toml(read)), publications()) == read
    assert restore_offer(written, 3) == replace(read, version=3)
    assert dict(described(read)).keys() >= {"name", "benefit"}


def test_what_is_read() -> None:
    read = offer(**{**EVERYTHING, "limits": {"money": {"day": "2.50"}}, "benefit": {"percent": "20", "cap": "5"}})
    assert read.benefit == Benefit(BenefitKind.PERCENT, Decimal(20), Decimal(5))
    assert read.scope == Scope(
        values=Values(frozenset({"A-1"}), frozenset({"m1"}), frozenset({"b"}), frozenset({"food"})),
        excepted=Values(products=frozenset({"A-2"}), categories=frozenset({"thin"})),
    )
    assert (read.audience, read.code, read.currency) == (Audience.CODE, "LUNCH-20", "SGD")
    assert (read.price, read.quantity) == (Gate(Decimal("4.50"), Decimal(9)), Gate(Decimal(2), Decimal(6)))
    assert (read.stack, read.payer) == (Stack(Stacking.GROUP, "lunch"), Payer("partner", "acme"))
    assert read.limits.day.cost == 5 * MICROS // 2


def test_a_scope_of_places_and_no_items_is_for_all_items_there() -> None:
    read = offer(scope={"regions": ["centre"], "places": ["tanjong"]})
    assert read.scope == Scope(everything=True, values=within("region centre", "place tanjong"))
    assert named_spots(document(scope={"regions": ["a", 1], "except": {"places": ["b"], "regions": 2}})) == {
        "places": {"b"},
        "regions": {"a"},
    }


@pytest.mark.parametrize(
    ("operator", "constant", "type_"),
    [
        ("eq", "red", VariableType.TEXT),
        ("eq", "1.5", VariableType.TEXT),
        ("gt", "1.5", VariableType.DECIMAL),
        ("in", [1, 2], VariableType.INTEGER),
        ("between", [1, "2.5"], VariableType.DECIMAL),
        ("eq", True, VariableType.BOOLEAN),
        ("lt", "2026-11-01T00:00:00+08:00", VariableType.TIME),
        ("exists", None, VariableType.TEXT),
    ],
)
def test_a_variable_has_the_type_of_its_constants(operator: str, constant: object, type_: VariableType) -> None:
    condition = {"operator": operator, "lhs": "var.a", "rhs": constant}
    assert typed_by_use({"operator": "not", "conditions": [condition]}) == {"a": type_}
