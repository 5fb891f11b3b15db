"""Journeys, members and walks for tests."""

import copy
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from abacus.engage.journeys.decide.armed import Armed, arm
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.journey_reader import parse_journey
from abacus.engage.journeys.decide.publications import JourneyHead, JourneyPublications
from abacus.engage.journeys.decide.visit import Place, Visitor, Woken
from abacus.engage.journeys.decide.walk import Walk
from abacus.signals.events.types import Event, Value, VariableType
from tests.engage.campaigns.offers import AROUND as BESIDE
from tests.engage.campaigns.offers import NOW, order

AROUND = JourneyPublications(
    BESIDE,
    journeys={
        "farewell": JourneyHead("SG", {"reason": VariableType.TEXT, "points": VariableType.INTEGER}),
        "herd": JourneyHead("SG", None),
        "selamat": JourneyHead("ID", {}),
    },
    campaigns={"third_order"},
)
ORDERS = ["transactions/transaction.completed"]
NO_ZONE: Mapping[str, Value | None] = {"zone": None}
HELLO = {"tell": {"en": "Welcome\n{{ event.member_id }}, here you are"}}

# Welcome; two days later a reminder for who has no second order, and thanks for who has.
WELCOME: Mapping[str, Any] = {
    "name": "welcome",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-03-01T00:00:00+08:00",
    "ends_at": "2026-04-01T00:00:00+08:00",
    "entry": {"on": ORDERS},
    "begin": "hello",
    "nodes": {
        "hello": {"do": HELLO, "next": "second"},
        "second": {"wait": {"for": "2d", "event": {"on": ORDERS}}, "next": "thank", "otherwise": "remind"},
        "thank": {"do": {"award": {"points": 50}}, "next": "done"},
        "remind": {"do": {"tell": {"en": "Still there?\nCome back"}}, "next": "done"},
        "done": {"exit": "through"},
    },
}


def document(**changes: Any) -> dict[str, Any]:
    """The document with these fields; None leaves a field out."""
    merged = {**copy.deepcopy(dict(WELCOME)), **changes}
    return {name: value for name, value in merged.items() if value is not None}


def journey(version: int = 1, **changes: Any) -> Journey:
    """The journey of such a document."""
    return parse_journey(document(**changes), AROUND).numbered(version, {})


def armed(**changes: Any) -> Armed:
    return arm(journey(**changes), AROUND)


def nodes(begin: str, **written: Any) -> dict[str, Any]:
    """A document's nodes, with one exit `done`."""
    return {"begin": begin, "nodes": {**written, "done": {"exit": "through"}}}


def visitor(
    member_id: str = "bob",
    *,
    visit: int = 1,
    facts: Event | None = None,
    context: Mapping[str, Value] | None = None,
) -> Visitor:
    return Visitor(member_id, visit, facts or order(1, member_id), context or {})


def walked(
    of: Armed,
    who: Visitor | None = None,
    *,
    at: Place | None = None,
    woken: Woken = Woken.ENTERED,
    now: datetime = NOW,
    known: Mapping[str, Value | None] | None = None,
    skips: bool = False,
) -> Walk:
    """A walk to its stop. What it wants is looked up in `known`, and only that; a zone is named there, or by nobody."""
    walk = Walk(of, who or visitor(), now, at=at, woken=woken, skips=skips)
    wanted = walk.go({})
    while wanted is not None:
        wanted = walk.go({wanted.text: {**NO_ZONE, **(known or {})}[wanted.text]})
    return walk


def names(walk: Walk) -> list[str]:
    """The nodes that it went through, each with the way that it took."""
    return [f"{each.node.name} {each.way}".strip() for each in walk.trail]


def done(walk: Walk) -> list[str]:
    """The keys of what is to be done."""
    return [each.key for each in walk.effects]


def after(**length: int) -> datetime:
    return NOW + timedelta(**length)


def rule(lhs: str, operator: str, rhs: Any) -> dict[str, Any]:
    return {"operator": operator, "lhs": lhs, "rhs": rhs}


def joined(conditions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {"operator": "and", "conditions": list(conditions)}
