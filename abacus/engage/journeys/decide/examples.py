"""A journey to begin with, on orders of some kind: the demo runs it. Without country and times."""

from collections.abc import Mapping
from typing import Any


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
