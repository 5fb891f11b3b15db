"""Errands as tests have them: asked for, and ended without a command."""

import json
from typing import Any, Final
from uuid import UUID, uuid4

from abacus.console.errands.command import ERRAND_TOKEN
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import ErrandOutcome, Order, State
from tests.console.desk import Desk

FILE: Final = "rows.csv"
TABLE: Final = "rows"
ORDER: Final = Order("rates", "SG", "SG", ("rates", "timeline", "SG", "--json"), {"a.toml": "x = 1"}, (FILE,))
TRIAL: Final = UUID("00000000-0000-4000-8000-000000000001")
BACKTEST: Final = Order("campaign-backtest", "market 0", "SG", ("campaigns", "backtest", "campaign.toml", "--json"))
BACKTESTED: Final = {
    "read": 12345,
    "faulty": 0,
    "events": 40,
    "members": 7,
    "most_points_of_a_member": 500,
    "points": 1500,
    "cost": 15.0,
    "liability": "13.50",
    "currency": "SGD",
    "days": [
        {"day": "2026-01-10", "variant": "", "outcome": "done", "events": 3, "points": 1500, "cost": 15.0},
        {"day": "2026-01-12", "variant": "", "outcome": "counted", "events": 37, "points": 0, "cost": 0},
    ],
}
RATES_TRIAL: Final = UUID("00000000-0000-4000-8000-000000000002")
RATES_BACKTEST: Final = Order("rates-backtest", "SG 0", "SG", ("rates", "backtest", "card.toml", "--json"))
RATES_BACKTESTED: Final = {
    "card": "card.toml",
    "scope": "SG",
    "from": "2026-10-31T16:00:00+00:00",
    "until": "2026-11-30T16:00:00+00:00",
    "expiry_policy": {"now": "after 6 months without activity", "draft": "after 6 months without activity"},
    "without_cost": ["GRP/SG"],
    "rows": [{"vertical": "food", "points": 100, "drafted": 150, "difference": 50}],
    "by_vertical": [{"vertical": "food", "points": 100, "drafted": 150, "difference": 50}],
    "total": [{"awards": 3, "points": 100, "drafted": 150, "difference": 50}],
}
OFFER_TRIAL: Final = UUID("00000000-0000-4000-8000-000000000003")
OFFER_BACKTEST: Final = Order("offer-backtest", "lunch_20 0", "SG", ("offers", "backtest", "offer.toml", "--json"))
OFFER_BACKTESTED: Final[dict[str, Any]] = {
    "purchases": 1_200,
    "given": 40,
    "members": 30,
    "money": "84.00",
    "currency": "SGD",
    "points": 0,
    "liability": None,
    "liability_currency": None,
    "most_of_a_member": {"uses": 3, "money": "9.00", "points": 0},
    "does_not_fit": {"price": 1_100, "scope": 60},
    "not_told": ["brands"],
    "everybody_invited": True,
    "days": [
        {"day": "2026-03-01", "outcome": "given", "purchases": 30, "money": "63.00", "points": 0},
        {"day": "2026-03-03", "outcome": "given", "purchases": 10, "money": "21.00", "points": 0},
        {"day": "2026-03-03", "outcome": "uses.overall", "purchases": 5, "money": "10.00", "points": 0},
    ],
}
REWARD_TRIAL: Final = UUID("00000000-0000-4000-8000-000000000005")
REWARD_BACKTEST: Final = Order("reward-backtest", "tea 0", "SG", ("rewards", "backtest", "reward.toml", "--json"))
REWARD_BACKTESTED: Final[dict[str, Any]] = {
    "reward": "tea",
    "could_afford": 1_200,
    "first_could_afford": "2026-03-01",
    "for_others": 30,
    "members": 40,
    "without": 7,
    "pieces": 60,
    "most_of_a_member": 2,
    "gone_on": "2026-03-03",
    "points": 30_000,
    "liability": "240.00",
    "liability_currency": "SGD",
    "assumed": ["limits begin unused"],
    "tiers": [{"tier": "member", "could": 1_200, "pieces": 60, "points": 30_000, "liability": "240.00"}],
    "days": [
        {"day": "2026-03-01", "tier": "member", "could": 1_000, "pieces": 50, "points": 25_000, "liability": "200.00"},
        {"day": "2026-03-03", "tier": "member", "could": 200, "pieces": 10, "points": 5_000, "liability": "40.00"},
    ],
}
JOURNEY_TRIAL: Final = UUID("00000000-0000-4000-8000-000000000004")
JOURNEY_DRY_RUN: Final = Order("journey-dry-run", "welcome 0", "SG", ("journeys", "dry-run", "journey.toml", "--json"))
JOURNEY_TAKEN: Final[dict[str, Any]] = {
    "journey": "welcome",
    "segment": "vip@1",
    "members": 50_000,
    "looked_at": 1_000,
    "entered": 990,
    "unknown": 0,
    "against": [{"reason": "the rule of the entry does not hold", "members": 10}],
    "ways": [{"node": "hello", "way": "", "to": "through", "members": 990}],
    "left": [{"reason": "through", "members": 990}],
}
DOCUMENT: Final = {"scope": "SG", "tied": True, "rows": [{"name": "SG@1", "points": 12345}, {"name": "<script>"}]}


async def errand(
    open_desk: Desk, errand_id: UUID, order: Order = ORDER, *, by: str = "ann", document: Any = DOCUMENT
) -> None:
    """One that is done."""
    store, runner = open_desk.rooms[ErrandStore], uuid4()
    await store.ask(errand_id, order, by)
    taken = await store.take(runner, ERRAND_TOKEN.new())
    assert taken is not None
    files = dict.fromkeys(order.keeps, b"name,points\r\n")
    await store.end(taken.errand_id, runner, ErrandOutcome(State.DONE, 0, None, json.dumps(document).encode(), files))
