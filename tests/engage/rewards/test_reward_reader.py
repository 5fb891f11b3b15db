"""Rewards as people write them: read and written again, and every fault with its path."""

from collections.abc import Mapping
from typing import Any

import pytest

from abacus.engage.rewards.decide.reward_document import to_document
from abacus.engage.rewards.decide.reward_reader import RewardFaults, parse_reward, restore_reward
from tests.support.rewards import COFFEE, NOW, around

WEBHOOK = {"webhook": "vouchers", "partner": "voucher_house", "late_after": "2h"}
DELIVERIES = [WEBHOOK, {"offer": "lunch_invited"}, {"program": "OVO", "points": 200}]
EVERYTHING: Mapping[str, Any] = {
    **COFFEE,
    "about": "For loyal members",
    "weekdays": ["mon"],
    "hours": ["08:00-11:00"],
    "picture": "https://example.com/coffee.png",
    "texts": {"en": {"title": "A coffee", "description": "Hot.", "terms": "Once."}, "id": {"title": "Kopi"}},
    "price": {
        "points": 500,
        "tiers": {"gold": 400},
        "segments": {"regulars": 450},
        "money": {"least_points": 200, "point_pays": "0.01"},
    },
    "when": {"operator": "in", "lhs": "member.tier", "rhs": ["gold", "platinum"]},
    "limits": {"uses": {"overall": 100, "member": 2}},
    "paid_by": {"cost_centre": "loyalty"},
}


ASKING: Mapping[str, Any] = {
    **COFFEE,
    "when": {
        "operator": "and",
        "conditions": [
            {"operator": "gte", "lhs": "counter.visits(month)", "rhs": 3},
            {"operator": "eq", "lhs": "external.lucky", "rhs": True},
            {"operator": "gte", "lhs": "member.balance", "rhs": 100},
        ],
    },
}


@pytest.mark.parametrize(
    "document", [COFFEE, EVERYTHING, ASKING, *({**EVERYTHING, "delivery": each} for each in DELIVERIES)]
)
def test_a_reward_is_read_and_written_again(document: Mapping[str, Any]) -> None:
    read = parse_reward(document, around())
    assert parse_reward(to_document(read), around()) == read
    assert restore_reward(to_document(read), 0) == read


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"name": "A Coffee"}, "name"),
        ({"paid_by": {}}, "paid_by"),
        ({"paid_by": {"cost_centre": "a", "partner": "b"}}, "paid_by.partner"),
        ({"country": "XX"}, "country"),
        ({"ends_at": NOW.isoformat()}, "ends_at"),
        ({"picture": "http://example.com/a.png"}, "picture"),
        ({"picture": "https:///a.png"}, "picture"),
        ({"texts": {}}, "texts"),
        ({"texts": {"English": {"title": "A coffee"}}}, "texts.English"),
        ({"texts": {"en": {"title": ""}}}, "texts.en.title"),
        ({"texts": {"en": {"title": "A", "term": "x"}}}, "texts.en.term"),
        ({"price": {"points": 0}}, "price.points"),
        ({"price": {"points": 5, "tiers": {"tin": 4}}}, "price.tiers"),
        ({"price": {"points": 5, "tiers": {"gold": 0}}}, "price.tiers.gold"),
        ({"price": {"points": 5, "segments": {"irregulars": 4}}}, "price.segments"),
        ({"price": {"points": 5, "money": {"least_points": 5, "point_pays": "1"}}}, "price.money.least_points"),
        ({"price": {"points": 5, "money": {"least_points": 1, "point_pays": "0"}}}, "price.money.point_pays"),
        ({"delivery": {}}, "delivery.pool"),
        ({"delivery": {"pool": "coffee_codes", **WEBHOOK}}, "delivery.pool"),
        ({"delivery": {"pool": "tea_codes"}}, "delivery.pool"),
        ({"delivery": {"pool": "dry_codes"}}, "delivery.pool"),
        ({"delivery": {**WEBHOOK, "webhook": "nobody"}}, "delivery.webhook"),
        ({"delivery": {**WEBHOOK, "partner": "nobody"}}, "delivery.partner"),
        ({"delivery": {**WEBHOOK, "late_after": "soon"}}, "delivery.late_after"),
        ({"delivery": {"offer": "lunch_invited", "pool": "coffee_codes"}}, "delivery.pool"),
        ({"delivery": {"offer": "lunch_21"}}, "delivery.offer"),
        ({"delivery": {"offer": "lunch_20"}}, "delivery.offer"),  # public
        ({"delivery": {"offer": "makan_siang"}}, "delivery.offer"),  # of another country
        ({"delivery": {"program": "MILES", "points": 5}}, "delivery.program"),
        ({"delivery": {"program": "GRP", "points": 5}}, "delivery.program"),  # what it is paid with
        ({"delivery": {"program": "ovo", "points": 5}}, "delivery.program"),
        ({"delivery": {"program": "OVO"}}, "delivery.points"),
        ({"limits": {}}, "limits.uses"),
        ({"limits": {"uses": {"overall": 0}}}, "limits.uses.overall"),
        ({"limits": {"money": {"overall": "5"}}}, "limits.money"),
        ({"when": {"operator": "eq", "lhs": "var.amount", "rhs": 5}}, "when.lhs"),
        ({"when": {"operator": "eq", "lhs": "segment.irregulars", "rhs": True}}, "when.lhs"),
        ({"when": {"operator": "eq", "lhs": "event.source", "rhs": "rides"}}, "when.lhs"),
        ({"when": {"operator": "eq", "lhs": "campaign.count", "rhs": 1}}, "when.lhs"),
        ({"when": {"operator": "gte", "lhs": "counter.by_city(7d)", "rhs": 1}}, "when.lhs"),
        ({"when": {"operator": "gte", "lhs": "counter.nights(7d)", "rhs": 1}}, "when.lhs"),
        ({"when": {"operator": "gte", "lhs": "counter.visits(7y)", "rhs": 1}}, "when.lhs"),
        ({"when": {"operator": "eq", "lhs": "external.unlucky", "rhs": True}}, "when.lhs"),
        ({"when": {"operator": "gte", "lhs": "external.lucky", "rhs": 1}}, "when.operator"),
        ({"colour": "brown"}, "colour"),
        ({"about": "a\x00b"}, "about"),
    ],
)
def test_a_fault_is_told_with_its_path(changed: Mapping[str, Any], path: str) -> None:
    with pytest.raises(RewardFaults) as refused:
        parse_reward({**COFFEE, **changed}, around())
    assert path in {fault.path for fault in refused.value.faults}


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(RewardFaults) as refused:
        parse_reward({}, around())
    missing = ["name", "country", "timezone", "starts_at", "ends_at", "texts", "price", "delivery", "limits"]
    assert [fault.path for fault in refused.value.faults] == missing
