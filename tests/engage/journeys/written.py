"""Journeys as people write them, which together say all that a journey can say."""

from collections.abc import Mapping
from typing import Any, Final

from tests.engage.journeys.examples import ORDERS, document, nodes, rule

_GOLD: Final = rule("member.tier", "eq", "gold")
# All that a journey can say, but for the other ways in.
FULL: Final[Mapping[str, Any]] = document(
    about="All that a journey can say",
    languages=["en", "id"],
    entry={"on": ORDERS, "when": rule("var.vertical", "eq", "food")},
    re_entry={"again": "each", "at_most": 100, "at_once": 5, "of": "var.transaction_id"},
    exits=[
        {"name": "bought", "on": ORDERS, "when": rule("var.vertical", "eq", "mart")},
        {"name": "gold", "when": _GOLD},
    ],
    goal={"on": ORDERS, "within": "7d"},
    at_end="stop",
    late="skip",
    not_later_than="6h",
    quiet_hours="21:00-08:00",
    kind="service",
    priority=7,
    begin="arms",
    nodes={
        "arms": {
            "split": [
                {"arm": "control", "share": 10, "next": "quiet"},
                {"arm": "a", "share": 90, "next": "gate"},
            ]
        },
        "quiet": {"wait": {"for": "48h"}, "next": "done"},
        "gate": {"rate": 6000, "next": "which"},
        "which": {
            "branch": [
                {"when": _GOLD, "next": "hello"},
                {"when": rule("campaign.third_order.runs", "gte", 1), "next": "monday"},
                {"when": rule("journey.herd.inside", "eq", rhs=True), "next": "monday"},
            ],
            "otherwise": "call",
        },
        "hello": {"do": {"tell": {"en": "Hi\n{{ event.amount }}", "id": "Hai\nKamu"}}, "next": "second"},
        "second": {
            "wait": {"for": "2d", "zone": "country", "event": {"on": ORDERS, "when": rule("var.amount", "gt", "5")}},
            "next": "give",
            "otherwise": "monday",
        },
        "monday": {"wait": {"weekday": "mon", "at": "10:00", "zone": "Asia/Kathmandu"}, "next": "richer"},
        "richer": {
            "wait": {"at": "17:00", "rule": {"when": _GOLD, "every": "15m", "after": ORDERS}},
            "next": "give",
            "otherwise": "call",
        },
        "call": {"do": {"call": "crm"}, "next": "invite"},
        "invite": {"do": {"grant": {"offer": "lunch_invited"}}, "next": "reward"},
        "reward": {"do": {"grant": {"reward": "coffee"}}, "next": "begin"},
        "begin": {
            "do": {"start": {"journey": "farewell", "context": {"reason": "var.vertical", "points": 5}}},
            "next": "stop",
        },
        "stop": {"do": {"end": {"journey": "herd"}}, "next": "give"},
        "give": {"do": {"award": {"multiple": "1.5"}}, "next": "done"},
        "done": {"exit": "through"},
    },
)
BY_CALL: Final[Mapping[str, Any]] = document(
    entry={"api": True},
    context={"flies_at": "time", "seats": "integer"},
    re_entry={"again": "after", "at_most": 5, "span": "30d"},
    **nodes(
        "near",
        near={"wait": {"until": "context.flies_at", "before": "3h"}, "next": "hello"},
        hello={"do": {"tell": {"en": "Hi\n{{ context.seats }}"}}, "next": "done"},
    ),
)
OF_SEGMENT: Final[Mapping[str, Any]] = document(
    entry={"segment": "regulars", "at": "2026-03-10T10:00:00+08:00", "and_later": True},
    re_entry={"again": "after_leaving", "at_most": 2},
)
EXPIRING: Final[Mapping[str, Any]] = document(
    entry={"life": "points.expiring", "days": 3},
    **nodes("hello", hello={"do": {"tell": {"en": "Soon\n{{ context.points }} points"}}, "next": "done"}),
)
WRITTEN: Final = {
    "full": FULL,
    "by call": BY_CALL,
    "of a segment": OF_SEGMENT,
    "points that expire": EXPIRING,
    "a tier": document(entry={"life": "tier.changed", "when": rule("var.to_tier", "eq", "gold")}),
    "plain": document(),
}
