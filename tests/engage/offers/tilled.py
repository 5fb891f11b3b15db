"""Members and baskets for tests of the till."""

import json
from collections.abc import Mapping
from typing import Any, Final

from abacus.engage.limits.types import Amounts
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.members import Known
from abacus.ledger.types.account import AccountId
from tests.engage.offers.taken import NOW

HAD: Final = "once"  # an offer
VALUES: Final[Mapping[str, Any]] = {"vertical": "food", "payment_type": "wallet"}


class Strangers:
    """Members without an account, in no segment, who have had an offer some time ago."""

    async def of(self, _: AccountId) -> Known:
        return Known("member", None, frozenset(), {HAD: {None: Amounts(1)}}, None, NOW)


def item(price: int = 2100, id_: str = "1") -> Item:
    return Item(id_, "laksa", "m-17", "hawker", ("food",), price, "SGD", variables=VALUES)


def basket(*items: Item) -> str:
    return json.dumps([[each.id, each.price] for each in items])
