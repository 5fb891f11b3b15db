"""Campaigns on rides, as many as asked for, and rides that each concern about as many of them as asked for."""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson

from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.source import parse_source
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.sides import of_event
from abacus.signals.rules.decide.types import Rule

NOW: Final = datetime(2026, 11, 23, 12, tzinfo=UTC)
_TOPIC: Final = "rides"
_TYPE: Final = "ride.completed"
_SOURCE: Final = parse_source(
    {
        "source": "rides",
        "topic": _TOPIC,
        "fields": {"type": "/type", "id": "/id", "member": "/member", "country": "/country", "time": "/at"},
        "types": {
            _TYPE: {
                "city": "text",
                "vehicle": "text",
                "payment": "text",
                "amount": "decimal",
                "minutes": "integer",
                "pooled": "boolean",
                "tags": "texts",
            }
        },
    }
)
_RESOLVE: Final = of_event({name: each.type for name, each in _SOURCE.variables[_TYPE].items()})
_VEHICLES: Final = ("car", "bike", "van", "taxi")
_PAYMENTS: Final = ("wallet", "card", "cash")
_TAGS: Final = ("airport", "night", "event", "school")
_OF_A_CITY: Final = 0.25  # of the campaigns in an event's city, the share that the event concerns


def reader() -> EventReader:
    return EventReader([_SOURCE], _TOPIC, events_topic="events")


def rules(number: int, matches: int) -> Iterator[Rule]:
    """The rules of so many campaigns, of which a ride concerns about as many as said: the more, the fewer cities there
    are.
    """
    rng = random.Random(number)
    cities = cities_of(number, matches)
    return (rule(rng, cities) for _ in range(number))


def rides(number: int, campaigns_there: int, matches: int) -> list[bytes]:
    rng = random.Random(matches)
    cities = cities_of(campaigns_there, matches)
    return [orjson.dumps(_ride(rng, cities, each)) for each in range(number)]


def cities_of(campaigns_there: int, matches: int) -> Sequence[str]:
    return [f"city-{each}" for each in range(max(1, round(_OF_A_CITY * campaigns_there / matches)))]


def _ride(rng: random.Random, cities: Sequence[str], number: int) -> Mapping[str, Any]:
    return {
        "type": _TYPE,
        "id": f"R-{number}",
        "member": f"m{rng.randrange(1_000_000):08}",
        "country": "ID",
        "at": (NOW - timedelta(seconds=rng.randrange(86_400))).isoformat(),
        "city": rng.choice(cities),
        "vehicle": rng.choice(_VEHICLES),
        "payment": rng.choice(_PAYMENTS),
        "amount": f"{rng.uniform(1, 50):.2f}",
        "minutes": rng.randrange(2, 90),
        "pooled": rng.random() < 0.3,  # noqa: PLR2004  # a share
        "tags": rng.sample(_TAGS, rng.randrange(3)),
    }


def rule(rng: random.Random, cities: Sequence[str]) -> Rule:
    """A city or two, a vehicle or two, an amount, a time; every other has an `or`, a `not` or a tag beside."""
    begin = NOW - timedelta(days=rng.randrange(60))
    conditions = [
        _is("in", "var.city", rng.choices(cities, k=rng.randrange(1, 3))),
        _is("in", "var.vehicle", rng.sample(_VEHICLES, rng.randrange(1, 3))),
        _is("gte", "var.amount", str(rng.randrange(5, 40))),
        _is("between", "event.occurred_at", [each.isoformat() for each in (begin, begin + timedelta(days=60))]),
        *rng.choice(
            (
                (),
                (),
                (),
                (_join("not", _is("eq", "var.payment", rng.choice(_PAYMENTS))),),
                (_join("or", _is("gt", "var.minutes", rng.randrange(60)), _is("eq", "var.pooled", value=True)),),
                (_is("contains", "var.tags", rng.choice(_TAGS)),),
            )
        ),
    ]
    return parse_rule(_join("and", *conditions), _RESOLVE)


def _is(operator: str, side: str, value: object) -> dict[str, object]:
    return {"operator": operator, "lhs": side, "rhs": value}


def _join(operator: str, *conditions: object) -> dict[str, object]:
    return {"operator": operator, "conditions": list(conditions)}
