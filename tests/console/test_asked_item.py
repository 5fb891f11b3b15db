"""A line of a basket as people type it."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from abacus.console.decide.asked_item import BadItem, item_of
from abacus.engage.offers.decide.spot import Spot
from abacus.signals.events.types import Value

ABOVE = {"food": (), "noodles": ("food",), "thin": ("food", "pizza")}


def read(**typed: str) -> tuple[object, ...]:
    found = item_of({"price": "12.50", **typed}, "SGD", ABOVE)
    return found.product, found.categories, found.price, found.quantity


@pytest.mark.parametrize(
    ("typed", "is_read"),
    [
        ({}, ("-", (), 1250, 1)),
        ({"product": " laksa ", "quantity": "3"}, ("laksa", (), 1250, 3)),
        ({"categories": "food, noodles"}, ("-", ("food", "noodles"), 1250, 1)),
        ({"categories": "thin"}, ("-", ("food", "pizza", "thin"), 1250, 1)),
        ({"categories": "unheard"}, ("-", ("unheard",), 1250, 1)),
        ({"price": "7"}, ("-", (), 700, 1)),
    ],
)
def test_an_item_is_read(typed: dict[str, str], is_read: tuple[object, ...]) -> None:
    assert read(**typed) == is_read


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("vertical = food", "food"),
        ("var.age=7", 7),
        ("share = 0.5", Decimal("0.5")),
        ("new = true", True),
        ('cities = ["sg", "kl"]', ("sg", "kl")),
        ("since = 2026-11-27T04:00:00+00:00", datetime(2026, 11, 27, 4, tzinfo=UTC)),
    ],
)
def test_a_variable_is_read_as_rules_compare_it(typed: str, value: Value) -> None:
    (found,) = item_of({"price": "1", "variables": typed}, "SGD", {}).variables.values()
    assert found == value


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"price": ""}, ["price"]),
        ({"price": "12.505"}, ["price"]),
        ({"price": "-1"}, ["price"]),
        ({"quantity": "0"}, ["quantity"]),
        ({"quantity": "many", "price": "x"}, ["price", "quantity"]),
        ({"categories": "a, b, c, d"}, ["categories"]),
        ({"variables": "food"}, ["variables"]),
        ({"product": "x" * 201}, ["product"]),
    ],
)
def test_what_is_wrong_is_told_at_its_field(typed: dict[str, str], wrong: list[str]) -> None:
    with pytest.raises(BadItem) as bad:
        read(**typed)
    assert sorted(bad.value.wrong) == wrong


def test_what_nobody_typed_is_as_it_is_at_the_place() -> None:
    spot = Spot("p1", "SG", "m1", "", ("food",), ("centre",))
    found = item_of({"price": "1", "product": "laksa"}, "SG", {}, spot)
    assert (found.merchant, found.brand, found.categories) == ("m1", "-", ("food",))
    assert (found.product, found.place, found.regions) == ("laksa", "p1", ("centre",))
    assert item_of({"price": "1", "brand": "b2", "categories": "rides"}, "SG", {}, spot)[3:5] == ("b2", ("rides",))
