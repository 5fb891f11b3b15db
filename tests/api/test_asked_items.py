"""Items as shops send them, read in the currency of the country."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from abacus.api.api_problem import ApiProblem
from abacus.api.offers.asked import QualifyAsk, items_of
from abacus.api.problems import problem_of, problem_of_faults
from abacus.cli.examples import example_cards
from abacus.engage.offers.decide.spot import Spot
from abacus.intake.partners.decide.ask import Objection

LAKSA: dict[str, Any] = {
    "id": "1",
    "product": "laksa",
    "merchant": "m-17",
    "brand": "hawker",
    "categories": ["food", "noodles"],
    "price": "12.00",
    "currency": "SGD",
}
CARD = next(each for each in example_cards() if each.scope == "SG")
SPOTS = {
    "tanjong": Spot("tanjong", "SG", "m-17", "hawker", ("food",), ("centre", "sg")),
    "bangsar": Spot("bangsar", "MY", "m-17", "", (), ()),
}
ASK: dict[str, Any] = {"country": "SG", "scenario": "best", "items": [LAKSA]}
READ = TypeAdapter(QualifyAsk).validate_python


@pytest.mark.parametrize(
    ("changes", "currency", "price", "variables"),
    [
        ({}, "SGD", 1200, {}),
        ({"price": "12"}, "SGD", 1200, {}),
        ({"price": "12.0000"}, "SGD", 1200, {}),
        ({"price": "0"}, "SGD", 0, {}),
        ({"price": "99999999999", "currency": "VND"}, "VND", 99_999_999_999, {}),
        ({"price": "0.001", "currency": "BHD"}, "BHD", 1, {}),
        ({"var": {"city": "kl", "seats": 4, "new": True}}, "SGD", 1200, {"city": "kl", "seats": 4, "new": True}),
        ({"var": {"km": 1.1, "tags": ["a", "b"]}}, "SGD", 1200, {"km": Decimal("1.1"), "tags": ("a", "b")}),
        (
            {"var": {"at": "2026-01-10T12:30:00+08:00"}},
            "SGD",
            1200,
            {"at": datetime(2026, 1, 10, 4, 30, tzinfo=UTC)},
        ),
        ({"var": {"at": "2026-01-10Tomorrow, they said"}}, "SGD", 1200, {"at": "2026-01-10Tomorrow, they said"}),
    ],
)
def test_an_item_is_read(changes: dict[str, Any], currency: str, price: int, variables: dict[str, Any]) -> None:
    (item,) = items_of(READ({**ASK, "items": [{**LAKSA, **changes}]}).items, replace(CARD, currency=currency), {})
    assert (item.price, dict(item.variables), item.currency) == (price, variables, currency)
    assert (item.categories, item.quantity) == (("food", "noodles"), 1)


@pytest.mark.parametrize(
    ("said", "merchant", "brand", "categories"),
    [
        ({}, "m-17", "hawker", ("food",)),
        (
            {"merchant": "m-17", "brand": "nestle", "categories": ["food", "sweets"]},
            "m-17",
            "nestle",
            ("food", "sweets"),
        ),
    ],
)
def test_a_place_says_what_the_item_does_not(
    said: dict[str, Any], merchant: str, brand: str, categories: tuple[str, ...]
) -> None:
    bare = {name: value for name, value in LAKSA.items() if name not in {"merchant", "brand", "categories"}}
    (item,) = items_of(READ({**ASK, "items": [{**bare, "place": "tanjong", **said}]}).items, CARD, SPOTS)
    assert (item.merchant, item.brand, item.categories) == (merchant, brand, categories)
    assert (item.place, item.regions) == ("tanjong", ("centre", "sg"))


@pytest.mark.parametrize(
    ("changes", "kind", "pointer"),
    [
        ({"items": [LAKSA] * 51}, "invalid", "/items"),
        ({"items": []}, "invalid", "/items"),
        ({"items": [LAKSA, {**LAKSA, "price": "-1.00"}]}, "invalid", "/items/1/price"),
        ({"items": [{**LAKSA, "price": 12}]}, "invalid", "/items/0/price"),
        ({"items": [{**LAKSA, "price": "1e3"}]}, "invalid", "/items/0/price"),
        ({"items": [{**LAKSA, "price": "12.001"}]}, "invalid", "/items/0/price"),
        ({"items": [{**LAKSA, "currency": "USD"}]}, "unknown-currency", "/items/0/currency"),
        ({"items": [{**LAKSA, "quantity": 0}]}, "invalid", "/items/0/quantity"),
        ({"items": [{**LAKSA, "quantity": 1.0}]}, "invalid", "/items/0/quantity"),
        ({"items": [{**LAKSA, "categories": ["a", "b", "c", "d"]}]}, "invalid", "/items/0/categories"),
        ({"items": [{**LAKSA, "product": "\x00"}]}, "invalid", "/items/0/product"),
        ({"items": [{**LAKSA, "colour": "red"}]}, "invalid", "/items/0/colour"),
        ({"items": [{**LAKSA, "var": {"City": "kl"}}]}, "invalid", "/items/0/var/City/[key]"),
        ({"items": [{**LAKSA, "var": {"km": float("inf")}}]}, "invalid", "/items/0/var/km"),
        ({"items": [{**LAKSA, "var": {"tags": ["a", 1]}}]}, "invalid", "/items/0/var/tags"),
        ({"items": [{**LAKSA, "var": {"note": "x" * 201}}]}, "invalid", "/items/0/var/note"),
        ({"items": [{**LAKSA, "merchant": None}]}, "invalid", "/items/0/merchant"),
        ({"items": [{**LAKSA, "place": "lost"}]}, "invalid", "/items/0/place"),
        ({"items": [{**LAKSA, "place": "bangsar"}]}, "invalid", "/items/0/place"),
        ({"items": [{**LAKSA, "place": "tanjong", "merchant": "m-18"}]}, "contradiction", "/items/0/merchant"),
        ({"scenario": "cheapest"}, "invalid", "/scenario"),
        ({"country": "sg"}, "invalid", "/country"),
        ({"member_id": ""}, "invalid", "/member_id"),
        ({"explain": "yes"}, "invalid", "/explain"),
        ({"offers": []}, "invalid", "/offers"),
    ],
)
def test_what_is_wrong_is_pointed_at(changes: dict[str, Any], kind: str, pointer: str) -> None:
    problem = _problem_with({**ASK, **changes})
    assert (problem.kind, problem.status) == (kind, 422)
    assert pointer in {each.pointer for each in problem.errors}


def _problem_with(document: dict[str, Any]) -> ApiProblem:
    try:
        items_of(READ(document).items, CARD, SPOTS)
    except ValidationError as error:
        return problem_of_faults(error, "")
    except Objection as error:
        return problem_of(error)
    except ApiProblem as error:
        return error
    raise AssertionError("nothing is wrong with it")
