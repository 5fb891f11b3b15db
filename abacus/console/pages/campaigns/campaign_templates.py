"""Campaigns to begin with, over events that every house has."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from abacus.console.pages.drafts.draft_kind import Template

_ON: Final = ["transactions/transaction.completed"]
_LASTS: Final = timedelta(days=30)


def _is(lhs: str, value: str) -> Mapping[str, str]:
    return {"operator": "eq", "lhs": lhs, "rhs": value}


def _template(name: str, about: str, rest: Mapping[str, Any]) -> Template:
    def document(now: datetime) -> Mapping[str, Any]:
        first = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        times = {"starts_at": first.isoformat(), "ends_at": (first + _LASTS).isoformat()}
        return {"name": name, "about": about, "country": "SG", "timezone": "Asia/Singapore", **times, "on": _ON, **rest}

    return Template(name, about, document)


TEMPLATES: Final = (
    _template(
        "third_order",
        "A third order earns 500 points",
        {
            "when": _is("var.vertical", "mart"),
            "steps": [
                {"at": 2, "do": [{"tell": {"en": "One more order\nThe next one earns you 500 points."}}]},
                {"at": 3, "do": [{"award": {"points": 500}}]},
            ],
            "limits": {"runs": {"overall": 100_000, "member": 2}, "points": {"overall": 1_000_000}},
        },
    ),
    _template(
        "double_food",
        "Double points for food, within a budget",
        {
            "when": _is("var.vertical", "food"),
            "steps": [{"do": [{"award": {"multiple": "1"}}]}],
            "limits": {"budget": {"overall": "5000.00", "cost_of_point": "0.008"}},
        },
    ),
    _template(
        "two_in_a_week",
        "Two orders in a week, tried against a control group",
        {
            "over": "7d",
            "steps": [{"every": 2, "do": [{"award": {"points": 20}}]}],
            "limits": {"runs": {"member_day": 1}},
            "split": {"a": 90, "control": 10},
        },
    ),
)
