"""Campaigns to begin with: the demo runs them, and the console offers them as templates. Without country and times."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

APP: Final = "demo-app"  # the source of events that only the demo has
_PURCHASE: Final = "transactions/transaction.completed"


def _is(variable: str, operator: str, value: object) -> Mapping[str, object]:
    return {"operator": operator, "lhs": f"var.{variable}", "rhs": value}


THIRD_MEAL: Final[Mapping[str, Any]] = {
    "name": "third_meal",
    "about": "Every third meal earns 30 points in arm a, and 60 in arm b",
    "on": [_PURCHASE],
    "when": _is("vertical", "eq", "food"),
    "split": {"control": 20, "a": 40, "b": 40},
    "goal": 6,
    "steps": [
        {"every": 3, "variant": "a", "do": [{"award": {"points": 30}}]},
        {"every": 3, "variant": "b", "do": [{"award": {"points": 60}}]},
    ],
    "limits": {"points": {"overall": 200_000}},
}
TWO_RIDES: Final[Mapping[str, Any]] = {
    "name": "two_rides",
    "about": "Two rides in a week, and a message after the first",
    "on": [_PURCHASE],
    "when": _is("vertical", "eq", "rides"),
    "over": "week",
    "steps": [
        {"at": 1, "do": [{"tell": {"en": "One more ride\nThe next one this week earns you 20 points."}}]},
        {"at": 2, "do": [{"award": {"points": 20}}]},
    ],
    "limits": {"runs": {"member": 40}},
}
WEEKEND_GROCERIES: Final[Mapping[str, Any]] = {
    "name": "weekend_groceries",
    "about": "Groceries at the weekend earn 25 points",
    "on": [_PURCHASE],
    "when": _is("vertical", "eq", "mart"),
    "weekdays": ["sat", "sun"],
    "steps": [{"do": [{"award": {"points": 25}}]}],
    "limits": {"runs": {"member_day": 1}, "budget": {"overall": "900.00", "cost_of_point": "0.008"}},
}
LATE_DELIVERY: Final[Mapping[str, Any]] = {
    "name": "late_delivery",
    "about": "A delivery took over an hour: points and an apology",
    "on": [f"{APP}/order.completed"],
    "when": _is("minutes", "gt", 60),
    "steps": [
        {
            "do": [
                {"award": {"points": 50}},
                {"tell": {"en": "We are sorry\nYour order took {{event.minutes}} minutes. {{points}} points."}},
            ]
        }
    ],
    "limits": {"budget": {"overall": "5000.00", "cost_of_point": "0.008"}},
}
OF_THE_APP: Final[Sequence[Mapping[str, Any]]] = (
    {
        "name": "third_order",
        "about": "A third order of the market earns 500 points, and a message after the second",
        "on": [f"{APP}/order.completed"],
        "when": _is("vertical", "eq", "mart"),
        "steps": [
            {"at": 2, "do": [{"tell": {"en": "One more order\nThe next one earns you 500 points."}}]},
            {"at": 3, "do": [{"award": {"points": 500}}]},
        ],
        "limits": {"runs": {"overall": 100_000, "member": 2}, "points": {"overall": 1_000_000}},
    },
    {
        "name": "cancelled",
        "about": "A driver cancels: 100 points",
        "on": [f"{APP}/booking.cancelled"],
        "when": _is("by", "eq", "driver"),
        "steps": [{"do": [{"award": {"points": 100}}]}],
        "limits": {"runs": {"member_day": 3}},
    },
    LATE_DELIVERY,
    {
        "name": "way_home",
        "about": "After the morning ride, a reward for the way home, unless there was one already",
        "on": [f"{APP}/ride.completed"],
        "when": _is("part_of_day", "eq", "morning"),
        "steps": [
            {
                "do": [
                    {
                        "award": {"points": 30},
                        "after": "1s",
                        "unless": {"operator": "gt", "lhs": "campaign.runs", "rhs": 1},
                    }
                ]
            }
        ],
        "limits": {"runs": {"member_day": 1}},
    },
    {
        "name": "rides_in_pairs",
        "about": "Two rides in seven days",
        "on": [f"{APP}/ride.completed"],
        "over": "7d",
        "steps": [{"every": 2, "do": [{"award": {"points": 20}}]}],
        "limits": {"unlimited": True},
    },
)
EXAMPLES: Final[Sequence[Mapping[str, Any]]] = (THIRD_MEAL, TWO_RIDES, WEEKEND_GROCERIES, *OF_THE_APP)
