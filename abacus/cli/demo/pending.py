"""A purchase whose points vest: by the card of a country that has none of the example cards."""

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


def purchase(now: datetime) -> dict[str, Any]:
    """A lunch of now."""
    return {
        "type": "transaction.completed",
        "source": "meals",
        "transaction_id": f"T-SOK-{now:%Y%m%d%H%M%S%f}",
        "member_id": "sok",
        "country": _COUNTRY,
        "vertical": "food",
        "payment_type": "card",
        "amount": "20000",
        "currency": "KHR",
        "occurred_at": now.isoformat(),
    }
