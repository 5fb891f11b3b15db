"""The sources that are there from the start: Abacus' own topics. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.signals.events.decide.source import Source, parse_source

POINTS: Final = "points"
SOURCE_VARIABLE: Final = "source"  # of points: where they came from, such as campaign:welcome

PLACES: Final = "places"
ENTERED: Final = "place.entered"  # a member came into a region
LEFT: Final = "place.left"

_OF_TRANSACTIONS: Final = {"source": "text", "transaction_id": "text", "amount": "decimal", "currency": "text"}
_TRANSACTIONS: Final[Mapping[str, Any]] = {
    "source": "transactions",
    "fields": {
        "type": "/type",
        "id": ["/source", "/transaction_id"],
        "member": "/member_id",
        "country": "/country",
        "time": "/occurred_at",
        "ids": {"transaction.refunded": ["/source", "/refund_id"]},
    },
    "types": {
        "transaction.completed": {**_OF_TRANSACTIONS, "vertical": "text", "payment_type": "text"},
        "transaction.refunded": {**_OF_TRANSACTIONS, "refund_id": "text"},
    },
}

_OF_POINTS: Final = {
    name: {"pointer": f"/data/{name}", "type": type_}
    for name, type_ in {
        "program": "text",
        "points": "integer",
        "balance": "integer",
        "seq": "integer",
        "kind": "text",
        "key": "text",
        SOURCE_VARIABLE: "text",
    }.items()
}
_POINTS: Final[Mapping[str, Any]] = {
    "source": POINTS,
    "fields": {
        "type": "/type",
        "id": "/id",
        "member": "/data/member_id",
        "country": "/data/country",
        "time": "/data/occurred_at",
    },
    "types": {
        f"abacus.points.{what}.v1": _OF_POINTS
        for what in (
            "earned",
            "expired",
            "spent",
            "reversed",
            "adjusted",
            "held",
            "released",
            "exchanged_out",
            "exchanged_in",
        )
    },
}

_TIERS: Final[Mapping[str, Any]] = {
    "source": "tiers",
    "fields": {
        "type": "/type",
        "id": "/id",
        "member": "/data/member_id",
        "country": "/data/country",
        "time": "/data/at",
    },
    "types": {
        "abacus.tier.changed.v1": {
            "program": {"pointer": "/data/program", "type": "text"},
            "from_tier": {"pointer": "/data/from", "type": "text"},
            "to_tier": {"pointer": "/data/to", "type": "text"},
            "reason": {"pointer": "/data/reason", "type": "text"},
            "earned": {"pointer": "/data/earned", "type": "integer"},
        }
    },
}

# On the events topic, as Abacus publishes them: no sender may post them.
_OF_PLACES: Final = {"region": "text", "kind": "text"}
_PLACES: Final[Mapping[str, Any]] = {
    "source": PLACES,
    "senders": [],
    "types": {ENTERED: _OF_PLACES, LEFT: _OF_PLACES},
}


def built_in(*, transactions_topic: str, points_topic: str, tiers_topic: str) -> list[Source]:
    """The source of each of these topics, and that of the events that Abacus itself publishes."""
    topics = ((_TRANSACTIONS, transactions_topic), (_POINTS, points_topic), (_TIERS, tiers_topic))
    of_topics = [{**document, "topic": topic} for document, topic in topics]
    return [parse_source(document, built_in=True) for document in (*of_topics, _PLACES)]
