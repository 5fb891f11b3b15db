"""Journeys to begin with: the demo runs them. Without country and times."""

from collections.abc import Mapping
from typing import Any, Final


def welcome(name: str, ordered: str, again_within: str) -> Mapping[str, Any]:
    """A greeting after the first order of this type; thanks for another one in time, else a reminder."""
    return {
        "name": name,
        "about": "Welcome new members; thank them for a second order, or remind them of it",
        "begin": "hello",
        "entry": {"on": [ordered]},
        "goal": {"on": [ordered], "within": "7d"},
        "nodes": {
            "hello": {"do": {"tell": {"en": "Welcome\nYour first order earns points."}}, "next": "second_order"},
            "second_order": {
                "wait": {"for": again_within, "event": {"on": [ordered]}},
                "next": "thank",
                "otherwise": "remind",
            },
            "thank": {"do": {"award": {"points": 50}}, "next": "through"},
            "remind": {"do": {"tell": {"en": "Hungry again?\nYour next order is waiting."}}, "next": "through"},
            "through": {"exit": "through"},
        },
    }


LAPSING: Final[Mapping[str, Any]] = {
    "name": "lapsing",
    "about": "Remind members of points that lapse in three days; some are given points to come back",
    "begin": "arms",
    "entry": {
        "life": "points.expiring",
        "days": 3,
        "when": {"operator": "gte", "lhs": "context.points", "rhs": 100},
    },
    "re_entry": {"again": "after", "span": "20d", "at_most": 12},
    "goal": {"on": ["transactions/transaction.completed"], "within": "3d"},
    "nodes": {
        "arms": {
            "split": [
                {"arm": "control", "share": 20, "next": "watch"},
                {"arm": "told", "share": 80, "next": "tell"},
            ]
        },
        "watch": {"wait": {"until": "context.expires_at"}, "next": "through"},
        "tell": {
            "do": {"tell": {"en": "Points lapse\n{{ number(context.points) }} until {{ day(context.expires_at) }}."}},
            "next": "last_day",
        },
        "last_day": {"wait": {"until": "context.expires_at", "before": "1d"}, "next": "gift"},
        "gift": {"do": {"award": {"points": 20}}, "next": "through"},
        "through": {"exit": "through"},
    },
}
