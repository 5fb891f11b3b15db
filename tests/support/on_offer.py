"""Offers and rewards of Singapore that somebody has agreed to, and that are in force: for trials that verify."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.engage.offers.codes.desk import CodeDesk
from abacus.engage.offers.codes.loader import Batch
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.kind import OFFERS
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.offers.publications import offer_publications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_reader import parse_reward
from abacus.engage.rewards.kind import REWARDS
from abacus.engage.rewards.publications import reward_publications
from abacus.engage.rewards.reward_store import RewardStore
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Pool
from tests.support.agreed import ANN, agree
from tests.support.rewards import COFFEE

_DAY: Final = timedelta(days=1)
TEA: Final = {
    "id": "1",
    "product": "tea",
    "merchant": "m1",
    "brand": "b1",
    "categories": [],
    "price": "12.00",
    "currency": "SGD",
}


async def put_on_offer(
    pool: Pool, name: str, benefit: dict[str, Any], *, approved_at: datetime | None = None, **fields: Any
) -> Offer:
    """An offer for `TEA` that stands beside others. For `approved_at` see `agree`."""
    now = SystemClock().now()
    around = await offer_publications(pool, now)
    document = {
        "name": name,
        "country": "SG",
        "timezone": "Asia/Singapore",
        "starts_at": (now - _DAY).isoformat(),
        "ends_at": (now + _DAY).isoformat(),
        "audience": "public",
        "benefit": benefit,
        "scope": {"merchants": [TEA["merchant"]]},
        "stack": "always",
        "paid_by": {"cost_centre": "tests"},
        **fields,
    }
    offer: Offer = await agree(
        pool, OFFERS, OfferStore(pool), await OFFERS.read(document, around), around, approved_at=approved_at
    )
    return offer


async def put_on_offer_by_codes(pool: Pool, name: str, codes: Iterable[str], secrets: Secrets) -> Offer:
    """A dollar off for each of these single codes, which have a check character."""
    into = Batch(name, "SG", "one", is_checked=True, made_by=ANN.source)
    await CodeDesk(pool, SystemClock(), secrets).load(into, codes, ANN)
    limits = {"unlimited": True}
    return await put_on_offer(pool, name, {"amount_off": "1"}, limits=limits, audience="code", codes="pool")


async def put_in_catalogue(pool: Pool, name: str, **fields: Any) -> Reward:
    """A reward, whose pool of codes or whose fulfiller is there."""
    now = SystemClock().now()
    around = await reward_publications(pool, now)
    times = {"starts_at": (now - _DAY).isoformat(), "ends_at": (now + _DAY).isoformat()}
    draft = parse_reward({**COFFEE, "name": name, **times, **fields}, around)
    reward: Reward = await agree(pool, REWARDS, RewardStore(pool), draft, around)
    return reward
