"""An offer says in sentences all that an approver has to know."""

from typing import Any

import pytest

from abacus.documents.form.sentences import sentences
from abacus.engage.offers.decide.document import to_document
from abacus.engage.offers.decide.offer_form import OFFER_FORM
from tests.support.offers import offer

GATES = {"price": {"from": "5", "below": "50"}, "quantity": {"from": 2}, "basket_minimum": "30"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {},
            [
                "For everybody",
                "It gives 20 % off, at most 5",
                "on the categories food",
                "but not the categories noodles",
                "paid by the cost centre marketing",
            ],
        ),
        ({"audience": "code", "code": "LUNCH-1"}, ["For who has a code", "with the code LUNCH-1"]),
        (
            {"benefit": {"points_plus": 20}, "scope": {"everything": True}},
            ["It gives 20 points besides", "on all items"],
        ),
        (
            GATES,
            [
                "if a piece costs 5 or more, a piece costs less than 50",
                "if 2 pieces or more",
                "if the basket comes to 30 or more",
            ],
        ),
        ({"stack": "group:food"}, ["stands in the group food, beside offers of other groups"]),
    ],
)
def test_what_an_offer_says(changes: dict[str, Any], says: list[str]) -> None:
    said = [f"{each.begins} {each.says}" for each in sentences(OFFER_FORM, to_document(offer(**changes)))]
    assert [each for each in says if each not in said] == []
