"""The sources that are there from the start: Abacus' own topics. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.signals.events.decide.source import Source, parse_source

POINTS: Final = "points"
SOURCE_VARIABLE: Final = "source"  # of points: where they came from, such as campaign:welcome

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
        for what in ("earned", "expired", "spent", "reversed", "adjusted", "held", "released")
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


def built_in(*, transactions_topic: str, points_topic: str, tiers_topic: str) -> list[Source]:
    """The source of each of these topics."""
    topics = ((_TRANSACTIONS, transactions_topic), (_POINTS, points_topic), (_TIERS, tiers_topic))
    return [parse_source({**document, "topic": topic}, built_in=True) for document, topic in topics]
