"""Campaigns for the tests of pages."""

from datetime import UTC, datetime
from typing import Any, Final

from abacus.cli.examples import example_cards
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.people.types.approval import Approval
from abacus.pricing.store.cards import CardReader, CardStore
from tests.console.desk import Desk
from tests.people.approving import ANN

MARKET: Final[dict[str, Any]] = {
    "name": "market",
    "about": "Bring people back",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": "2036-01-01T00:00:00+08:00",
    "on": ["transactions/transaction.completed"],
    "when": {
        "operator": "or",
        "conditions": [
            {"operator": "eq", "lhs": "var.vertical", "rhs": "food"},
            {"operator": "gte", "lhs": "var.amount", "rhs": "20"},
        ],
    },
    "steps": [{"at": 3, "do": [{"award": {"points": 500}}, {"tell": {"en": "Thanks\nMany."}, "after": "2h"}]}],
    "limits": {"runs": {"overall": 1000, "member": 1}, "budget": {"overall": "50.00", "cost_of_point": "0.01"}},
}
TOML: Final = """name = "market"
country = "SG"
timezone = "Asia/Singapore"
starts_at = 2026-01-01T00:00:00+08:00
ends_at = 2036-01-01T00:00:00+08:00
on = ["transactions/transaction.completed"]

[[steps]]
[[steps.do]]
award = { points = 5 }

[limits]
runs = { overall = 10 }
"""


async def cards(open_desk: Desk) -> None:
    for card in example_cards():
        await CardStore(open_desk.pool).publish(card, by="tests", now=datetime.now(UTC))
    await open_desk.rooms[CardReader].refresh()


async def submitted(open_desk: Desk, **fields: Any) -> Approval:
    """By ann."""
    await cards(open_desk)
    desk = open_desk.rooms[CampaignDesk]
    _, approval = await desk.propose(await desk.read({**MARKET, **fields}), ANN)
    return approval
