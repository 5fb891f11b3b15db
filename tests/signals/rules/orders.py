"""Events for rules to look at: orders, with a variable of every type."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.rules.decide.sides import of_event

VARIABLES: Final[Mapping[str, VariableType]] = {
    "city": VariableType.TEXT,
    "seats": VariableType.INTEGER,
    "amount": VariableType.DECIMAL,
    "pooled": VariableType.BOOLEAN,
    "wanted_at": VariableType.TIME,
    "tags": VariableType.TEXTS,
}
RESOLVE: Final = of_event(VARIABLES)
NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVERYTHING: Final[Mapping[str, Value]] = {
    "city": "Bandung",
    "seats": 4,
    "amount": Decimal("12.50"),
    "pooled": False,
    "wanted_at": NOON,
    "tags": ("night", "airport"),
}


def order(variables: Mapping[str, Value] = EVERYTHING, *, member_id: str | None = "bob", country: str = "ID") -> Event:
    return Event("orders", "ride", "R-1", member_id, country, NOON, variables)
