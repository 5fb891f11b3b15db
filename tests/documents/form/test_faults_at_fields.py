"""What is wrong with an offer or a reward stands at the field in which it was typed."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from abacus.core.fields import DocumentFaults
from abacus.documents.form.faults import placed
from abacus.documents.form.view import view
from abacus.documents.kind import DocumentKind
from abacus.engage.offers.decide.offer_reader import parse_offer
from abacus.engage.offers.kind import OFFERS
from abacus.engage.rewards.decide.reward_reader import parse_reward
from abacus.engage.rewards.kind import REWARDS
from tests.support.offers import document, publications
from tests.support.rewards import COFFEE, around

OF_OFFERS: Final[list[dict[str, Any]]] = [
    {"name": "X Y"},
    {"timezone": "Nowhere"},
    {"hours": ["9"]},
    {"audience": "code", "code": "x"},
    {"benefit": {"percent": "120"}},
    {"benefit": {"percent": "20", "cap": "0"}},
    {"benefit": {"points_plus": 0}},
    {"scope": {}},
    {"scope": {"categories": ["unheard"]}},
    {"scope": {"categories": ["food"], "except": {"categories": ["food"]}}},
    {"price": {"from": "5", "below": "3"}},
    {"quantity": {"from": 0}},
    {"basket_minimum": "0.001"},
    {"when": {"operator": "eq", "lhs": "unheard.x", "rhs": "1"}},
    {"limits": {"uses": {"overall": 0}}},
    {"limits": {"money": {"overall": "1.001"}}},
    {"stack": "group:X Y"},
    {"priority": -1},
    {"paid_by": {"cost_centre": ""}},
    {"currency": "EUR"},
]
OF_REWARDS: Final[list[dict[str, Any]]] = [
    {"picture": "ftp://x"},
    {"texts": {"en": {"title": ""}}},
    {"price": {"points": 0}},
    {"price": {"points": 5, "tiers": {"unheard": 5}}},
    {"price": {"points": 5, "money": {"least_points": 9, "point_pays": "0.01"}}},
    {"delivery": {"pool": "none"}},
    {"delivery": {"pool": "coffee_codes", "low": -1}},
    {"delivery": {"webhook": "vouchers", "late_after": "x"}},
    {"when": {"operator": "eq", "lhs": "var.x", "rhs": "1"}},
    {"limits": {"uses": {"overall": 0}}},
]


@pytest.mark.parametrize("bad", OF_OFFERS, ids=str)
def test_faults_of_an_offer_stand_at_its_fields(bad: Mapping[str, Any]) -> None:
    assert elsewhere(OFFERS, parse_offer, document(**bad), publications()) == []


@pytest.mark.parametrize("bad", OF_REWARDS, ids=str)
def test_faults_of_a_reward_stand_at_its_fields(bad: Mapping[str, Any]) -> None:
    assert elsewhere(REWARDS, parse_reward, {**COFFEE, **bad}, around()) == []


def elsewhere(
    kind: DocumentKind[Any, Any], parse: Callable[..., object], typed: Mapping[str, Any], published: Any
) -> list[str]:
    assert kind.form is not None
    with pytest.raises(DocumentFaults) as bad:
        parse(typed, published)
    shown = view(kind.form, typed, kind.choices(typed, published))
    return [each.path for each in placed(bad.value.faults, shown, typed).elsewhere]
