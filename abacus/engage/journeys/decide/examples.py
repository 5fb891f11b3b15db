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


def come_back(name: str, bought: str, quiet: str, patience: str) -> Mapping[str, Any]:
    """A message to members whose last order is so long ago, then points; both only until they buy."""
    return {
        "name": name,
        "about": "Bring quiet members back; stop as soon as they buy",
        "at_end": "stop",
        "begin": "month",
        "entry": {"api": True},
        "context": {"last_order_at": "time"},
        "exits": [{"name": "bought", "on": [bought]}],
        "goal": {"on": [bought], "within": "7d"},
        "nodes": {
            "month": {"wait": {"until": "context.last_order_at", "after": quiet}, "next": "miss_you"},
            "miss_you": {
                "do": {"tell": {"en": "We miss you\nYour last order was on {{ day(context.last_order_at) }}."}},
                "next": "week",
            },
            "week": {"wait": {"for": patience}, "next": "gift"},
            "gift": {"do": {"award": {"points": 200}}, "next": "lost"},
            "lost": {"exit": "lost"},
        },
    }


def new_year(name: str, entry: Mapping[str, Any], wait: Mapping[str, Any]) -> Mapping[str, Any]:
    """Eleven greetings, by tier and balance."""
    ways = {
        **{
            f"{tier}_{purse}": (_both(_is("tier", "eq", tier), _is("balance", *has)), greeting.format(tier))
            for tier in ("silver", "gold", "platinum")
            for purse, (has, greeting) in _PURSES.items()
        },
        "savers": (_is("balance", "gte", 500), "Your points are waiting."),
        "starters": (_is("balance", "gt", 0), "Your first points are there."),
    }
    return {
        "name": name,
        "about": "Eleven greetings at once",
        "begin": "morning",
        "entry": entry,
        "nodes": {
            "morning": {"wait": wait, "next": "which"},
            "which": {
                "branch": [{"when": rule, "next": way} for way, (rule, _) in ways.items()],
                "otherwise": "through",
            },
            **{
                way: {"do": {"tell": {"en": f"A new year\n{greeting}"}}, "next": "through"}
                for way, (_, greeting) in ways.items()
            },
            "through": {"exit": "through"},
        },
    }


_PURSES: Final[Mapping[str, tuple[tuple[str, Any], str]]] = {
    "poor": (("lt", 500), "A good start for a {} member."),
    "fair": (("between", [500, 1999]), "Your points are waiting, {} member."),
    "rich": (("gte", 2000), "A reward is within reach, {} member."),
}


def _is(what: str, operator: str, value: object) -> Mapping[str, Any]:
    return {"operator": operator, "lhs": f"member.{what}", "rhs": value}


def _both(*conditions: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"operator": "and", "conditions": conditions}


DOUBLE_POINTS: Final[Mapping[str, Any]] = {
    "name": "double_points",
    "about": "Double points, for members whose points lapse",
    "audience": "invitation",
    "scope": {"everything": True},
    "benefit": {"points_times": "2", "cap": 500},
    "limits": {"uses": {"overall": 20_000, "member_day": 1}},
    "paid_by": {"cost_centre": "marketing"},
}
LAPSING: Final[Mapping[str, Any]] = {
    "name": "lapsing",
    "about": "Offer members double points three days before their points lapse",
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
                {"arm": "invited", "share": 80, "next": "invite"},
            ]
        },
        "watch": {"wait": {"until": "context.expires_at"}, "next": "through"},
        "invite": {"do": {"grant": {"offer": DOUBLE_POINTS["name"]}}, "next": "tell"},
        "tell": {
            "do": {"tell": {"en": "Points lapse\n{{ number(context.points) }} until {{ day(context.expires_at) }}."}},
            "next": "last_day",
        },
        "last_day": {"wait": {"until": "context.expires_at", "before": "1d"}, "next": "again"},
        "again": {"do": {"tell": {"en": "The last day\nToday you still earn double points."}}, "next": "through"},
        "through": {"exit": "through"},
    },
}
