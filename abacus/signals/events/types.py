"""An event, the types of its variables, and where its message stands. Pure."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, TypeAlias


class VariableType(StrEnum):
    """The type of a variable, as a source document names it."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TIME = "time"
    TEXTS = "texts"  # a list of text


Value: TypeAlias = str | int | Decimal | bool | datetime | tuple[str, ...]


class Position(NamedTuple):
    """Where a message stands: the topic, the partition in it, and the offset in that."""

    topic: str
    partition: int
    offset: int


class Event(NamedTuple):
    """Something that happened. `member_id` is None where the source names no member, as for the weather of a city.
    `regions` has the ids of the regions in which it happened, the first of them first; None where nobody said where.
    Coordinates are no part of it: they are read, and forgotten.
    """

    source: str
    type: str
    id: str
    member_id: str | None
    country: str | None
    occurred_at: datetime
    variables: Mapping[str, Value]
    regions: tuple[str, ...] | None = None

    @property
    def region(self) -> str | None:
        """The first of its regions."""
        return self.regions[0] if self.regions else None

    def lies_in(self, region: str) -> bool | None:
        """None where nobody said where it happened."""
        return None if self.regions is None else region in self.regions

    @property
    def key(self) -> str:
        """Two events with the same key are the same event."""
        return f"{self.source}:{self.type}:{self.id}"
