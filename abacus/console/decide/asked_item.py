"""A line of a basket as people type it, as the item that offers are looked at for. Pure."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import decimals_of, units_of
from abacus.engage.offers.decide.figure_reader import MOST_PIECES
from abacus.engage.offers.decide.offer import CATEGORY_LEVELS
from abacus.engage.offers.decide.spot import Spot
from abacus.signals.events.types import Value

_TEXT: Final = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_PRICE: Final = re.compile(r"[0-9]{1,11}(\.[0-9]{1,4})?")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NOTHING: Final = "-"  # of an item whose value nobody typed


class BadItem(Exception):
    """What is wrong, by the name of the field."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        super().__init__(", ".join(wrong))
        self.wrong = wrong


def item_of(
    typed: Mapping[str, str], currency: str, above: Mapping[str, tuple[str, ...]], spot: Spot | None = None
) -> Item:
    """`above` has the categories of the country, with the categories above each, which a category that stands alone
    brings. `spot` is where it is bought: what nobody typed is as it is there. Raises `BadItem` with every fault.
    """
    wrong: dict[str, str] = {}
    usual = {} if spot is None else {"merchant": spot.merchant, "brand": spot.brand}
    texts = {
        name: typed.get(name, "").strip() or usual.get(name) or _NOTHING for name in ("product", "merchant", "brand")
    }
    wrong |= {name: "At most 200 characters." for name, text in texts.items() if _TEXT.fullmatch(text) is None}
    if spot is not None and spot.merchant and texts["merchant"] != spot.merchant:
        wrong["merchant"] = f"The place is of {spot.merchant}."
    categories = _categories(typed.get("categories", ""), above, wrong)
    price = _price(typed.get("price", "").strip(), currency, wrong)
    quantity = _quantity(typed.get("quantity", "").strip(), wrong)
    variables = _variables(typed.get("variables", ""), wrong)
    if wrong:
        raise BadItem(wrong)
    return Item(
        "1",
        texts["product"],
        texts["merchant"],
        texts["brand"],
        categories if spot is None else categories or spot.categories,
        price,
        currency,
        quantity,
        variables,
        place=None if spot is None else spot.place,
        regions=() if spot is None else spot.regions,
    )


def _categories(typed: str, above: Mapping[str, tuple[str, ...]], wrong: dict[str, str]) -> tuple[str, ...]:
    names = tuple(each.strip() for each in typed.split(",") if each.strip())
    if len(names) == 1:
        names = (*above.get(names[0], ()), names[0])
    if len(names) > CATEGORY_LEVELS or any(_TEXT.fullmatch(each) is None for each in names):
        wrong["categories"] = f"At most {CATEGORY_LEVELS}, the widest first: food, noodles."
    return names


def _price(typed: str, currency: str, wrong: dict[str, str]) -> int:
    if _PRICE.fullmatch(typed) is None:
        wrong["price"] = "Write the price of a piece: 12.50."
        return 0
    try:
        return units_of(Decimal(typed), currency)
    except ValueError:
        wrong["price"] = f"{currency} has {decimals_of(currency)} decimals."
        return 0


def _quantity(typed: str, wrong: dict[str, str]) -> int:
    if not typed:
        return 1
    if typed.isascii() and typed.isdecimal() and 1 <= int(typed[:9]) <= MOST_PIECES:
        return int(typed)
    wrong["quantity"] = f"Write a number of pieces, at most {MOST_PIECES:,}."
    return 1


def _variables(typed: str, wrong: dict[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for line in filter(str.strip, typed.splitlines()):
        name, equals, text = (each.strip() for each in line.partition("="))
        name = name.removeprefix("var.")
        if not equals or _NAME.fullmatch(name) is None or _TEXT.fullmatch(text) is None:
            wrong["variables"] = f"Write each on a line, as vertical = food: {line.strip()[:40]}"
        else:
            found[name] = _value(text)
    return found


def _value(text: str) -> Value:
    """As rules compare it: a number with a fraction is a decimal, a text that is a moment a time."""
    try:
        read = json.loads(text, parse_float=Decimal)
    except ValueError:
        return _moment(text) or text
    match read:
        case bool() | int() | Decimal():
            return read
        case list() if all(isinstance(each, str) for each in read):
            return tuple(read)
        case str():
            return read
        case _:
            return text


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None and "T" in text else None
