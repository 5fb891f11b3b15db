"""What callers ask for offers: one request in ten is of a member that the process has not read lately."""

import random
from collections.abc import Iterator
from itertools import cycle
from typing import Any, Final

from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import money_text
from benchmarks.offer_examples import COUNTRY, questions

HOT_MEMBERS: Final = 500
COLD: Final = 0.1  # a share of the requests
LISTED: Final = 20  # products of a page
_DIFFERENT: Final = 5_000  # requests


def bodies(members: int, items: int) -> Iterator[dict[str, Any]]:
    """Of so many members, each request with so many items."""
    rng = random.Random(items)
    lines = cycle([_line(each.item) for each in questions(_DIFFERENT)])
    while True:
        member = rng.randrange(members) if rng.random() < COLD else rng.randrange(HOT_MEMBERS)
        yield {
            "member_id": f"m{member:08}",
            "country": COUNTRY,
            "scenario": "best",
            "items": [next(lines) for _ in range(items)],
        }


def _line(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "product": item.product,
        "merchant": item.merchant,
        "brand": item.brand,
        "categories": list(item.categories),
        "price": money_text(item.price, item.currency),
        "currency": item.currency,
        "var": dict(item.variables),
    }
