"""The campaigns of a run, and the messages that they answer to. Pure."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

COUNTRY: Final = "SG"
SINCE: Final = datetime(2020, 1, 1, tzinfo=UTC)  # as long as there are cards
UNTIL: Final = datetime(2090, 1, 1, tzinfo=UTC)
_COMPLETED: Final = "transaction.completed"
_EVENT: Final = f"transactions:{_COMPLETED}:"
_COST_OF_POINT: Final = Decimal("0.01")
MOST_RUNS: Final = 2  # of a member, where members have a limit
THIRD: Final = 3
PRAISED: Final = "order.praised"  # which campaigns publish
HOUSE: Final[Mapping[str, Any]] = {
    "source": "house",
    "senders": ["house"],
    "types": {
        PRAISED: {"order": "text"},
        **{f"visit.{what}": {"shop": "text"} for what in ("begun", "bought", "gone")},
    },
}
POINTS: Final[Mapping[str, int]] = {"budgeted": 5, "twice": 3, "later": 2}

NAMES: Final = ("budgeted", "twice", "later", "told")

Orders = Mapping[str, frozenset[str]]  # who the member of an order may be, by the key of its event


@dataclass(frozen=True)
class Campaigned:
    """The orders that campaigns answer to, of which half use up the budget."""

    orders: Orders

    @property
    def affordable(self) -> int:
        """How many orders the budget is enough for."""
        return len(self.orders) // 2

    def documents(self) -> list[dict[str, Any]]:
        """Points while a budget lasts; points twice a member; points some seconds later; a message and an event."""
        budget = {"overall": str(self.affordable * POINTS["budgeted"] * _COST_OF_POINT), "cost_of_point": "0.01"}
        praised = {"type": f"house/{PRAISED}", "var": {"order": "var.transaction_id"}}
        third = [{"tell": {"en": "Three\nThat was order {{count}}."}}, {"publish": praised}]
        return [
            _campaign("budgeted", [{"do": [_award("budgeted")]}], {"budget": budget}),
            _campaign("twice", [{"do": [_award("twice")]}], {"runs": {"member": MOST_RUNS}}),
            _campaign("later", [{"do": [{**_award("later"), "after": "3s"}]}], {"unlimited": True}),
            _campaign("told", [{"at": THIRD, "do": third}], {"unlimited": True}),
        ]

    def by_member(self, *, only_sure: bool) -> Counter[str]:
        """The orders of each member. Where orders with one key contradict each other, one of their members has it."""
        return Counter(
            member for members in self.orders.values() if not only_sure or len(members) == 1 for member in members
        )


def orders_in(bodies: Iterable[bytes]) -> dict[str, frozenset[str]]:
    """The orders that campaigns answer to."""
    orders: dict[str, frozenset[str]] = {}
    for body in bodies:
        try:
            order = json.loads(body)
        except ValueError:
            continue
        if order["type"] != _COMPLETED or order["country"] != COUNTRY or "member_id" not in order:
            continue
        if not SINCE <= datetime.fromisoformat(order["occurred_at"]) < UNTIL:
            continue
        key = f"{_EVENT}{order['source']}:{order['transaction_id']}"
        orders[key] = orders.get(key, frozenset()) | {order["member_id"]}
    return orders


def _award(campaign: str) -> dict[str, Any]:
    return {"award": {"points": POINTS[campaign]}}


def _campaign(name: str, steps: Sequence[Mapping[str, Any]], limits: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "country": COUNTRY,
        "timezone": "Asia/Singapore",
        "starts_at": SINCE.isoformat(),
        "ends_at": UNTIL.isoformat(),
        "on": [_COMPLETED],
        "steps": steps,
        "limits": limits,
    }
