"""The known answers: what is best for an item."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from abacus.engage.limits.types import Bound, Limits
from abacus.engage.offers.decide.asker import Wanted
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.choice import best
from abacus.engage.offers.decide.currencies import money_text, units_of
from abacus.engage.offers.decide.offer import Audience, Benefit, BenefitKind, Gate, Scope
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.signals.facts.decide.catalog import MEMBER_SIDES
from abacus.signals.rules.decide.types import Condition, Operator, looked_up
from tests.engage.offers.examples import ASKER, offer, question, within

GOLDEN: Final = json.loads((Path(__file__).parents[2] / "golden" / "offers.json").read_text("utf-8"))
_TIER: Final = looked_up(MEMBER_SIDES.origin, "member.tier", MEMBER_SIDES.types["member.tier"])


def _index() -> OfferIndex:
    index = OfferIndex()
    for each in GOLDEN["offers"]:
        ((kind, figure),) = each["benefit"].items()
        least, below = each["price"]
        scope = dict(each["scope"])
        excepted = scope.pop("except", {})
        index.put(
            offer(
                each["id"],
                Benefit(BenefitKind(kind), Decimal(figure), Decimal(each["cap"]) if each["cap"] else None),
                scope=Scope(
                    scope.pop("all", False),
                    within(*(f"{key} {value}" for key, value in scope.items())),
                    within(*(f"{key} {value}" for key, value in excepted.items())),
                ),
                price=Gate(Decimal(least), Decimal(below) if below else None),
                ends_at=datetime.fromisoformat(each["ends"]).replace(tzinfo=UTC),
                limits=Limits(overall=Bound(runs=1000)),
                audience=Audience.INVITATION if "invited" in each else Audience.PUBLIC,
            ),
            Condition(Operator.IN, _TIER, frozenset(each["tiers"])) if "tiers" in each else None,
        )
    index.spent = {each["id"] for each in GOLDEN["offers"] if each.get("spent")}
    return index


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_golden(case: Mapping[str, Any]) -> None:
    asked = case["item"]
    item = Item(
        "1",
        asked["product"],
        asked["merchant"],
        asked["brand"],
        (asked["category"],),
        units_of(Decimal(asked["price"]), "SGD"),
        "SGD",
    )
    invited = {each["id"] for each in GOLDEN["offers"] if case["member"] in each.get("invited", ())}
    asker = ASKER._replace(member_id=case["member"], tier=case["tier"], admitted=frozenset(invited))
    choice = best(_index(), asker, question(item))
    assert not isinstance(choice, Wanted)
    saves = choice.best.saves if choice.best else 0
    assert (choice.best.offer.number if choice.best else None) == case["best"]
    assert [each.offer.number for each in choice.others] == case["others"]
    assert (money_text(saves, "SGD") if choice.best else None) == case["saves"]
    assert money_text(item.line - saves, "SGD") == case["pays"]
