"""Purchases whose points vest, by the card of a country that has none of the example cards; and a refund of one of them
before its points vest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.sources import login_source
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, nothing_else
from abacus.pricing.decide.figures import multiplier
from abacus.pricing.store.cards import CardStore

_COUNTRY: Final = "KH"
_VESTS_AFTER: Final = 14  # days, in which a purchase may be given back
_BY: Final = "abacus demo"


async def publish_vesting_card(pool: Pool) -> None:
    """Nothing where the country has a card."""
    store, now = CardStore(pool), SystemClock().now()
    if any(each.card.scope == _COUNTRY for each in await store.all()):
        return
    (like,) = [each for each in example_cards() if each.scope == "VN"]
    card = replace(
        like,
        scope=_COUNTRY,
        currency="KHR",
        timezone="Asia/Phnom_Penh",
        eppf=multiplier("0.0005"),
        vests_after_days=_VESTS_AFTER,
    )
    entry = entry_of(login_source(_BY), Deed.PUBLISH_RATES, f"card:{_COUNTRY}", now, country=_COUNTRY, did="example")
    await store.publish(card, by=_BY, now=now, also=with_entry(nothing_else, entry))


def purchases(now: datetime) -> Sequence[dict[str, Any]]:
    """A lunch and a dinner of now."""
    of_now = f"{now:%Y%m%d%H%M%S%f}"
    return [_purchase(f"T-SOK-{meal}-{of_now}", amount, now) for meal, amount in (("1", "20000"), ("2", "30000"))]


def refund(purchase: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """All of it is paid back."""
    again = {**purchase, "type": "transaction.refunded", "occurred_at": now.isoformat()}
    return {**again, "refund_id": f"R-{purchase['transaction_id']}"}


def _purchase(name: str, amount: str, now: datetime) -> dict[str, Any]:
    return {
        "type": "transaction.completed",
        "source": "meals",
        "transaction_id": name,
        "member_id": "sok",
        "country": _COUNTRY,
        "vertical": "food",
        "payment_type": "card",
        "amount": amount,
        "currency": "KHR",
        "occurred_at": now.isoformat(),
    }
