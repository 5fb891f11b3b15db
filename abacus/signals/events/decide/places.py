"""Where the parts of an event stand in the messages of a topic. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from abacus.signals.events.types import VariableType


class TimeFormat(StrEnum):
    """How the messages of a source write the time of an event."""

    RFC3339 = "rfc3339"
    EPOCH_S = "epoch-s"
    EPOCH_MS = "epoch-ms"


class Pointer(NamedTuple):
    """A place in a message, as RFC 6901 writes it."""

    text: str

    @property
    def steps(self) -> tuple[str, ...]:
        """The names, or numbers of an array, on the way there."""
        return tuple(step.replace("~1", "/").replace("~0", "~") for step in self.text.split("/")[1:])


class Always(NamedTuple):
    """The type of every event of a source whose messages name none."""

    type: str


class Variable(NamedTuple):
    """The place of a variable, and its type."""

    pointer: Pointer
    type: VariableType


class Coordinates(NamedTuple):
    """The places of latitude and longitude, in degrees."""

    lat: Pointer
    lon: Pointer


IdPlace: TypeAlias = tuple[Pointer, ...]  # an id may have several parts


@dataclass(frozen=True, slots=True)
class Places:
    """Where `member` is named, every event has one. `ids` has the places for the types whose id stands elsewhere."""

    type: Pointer | Always
    id: IdPlace
    time: Pointer
    time_format: TimeFormat = TimeFormat.RFC3339
    member: Pointer | None = None
    country: Pointer | None = None
    ids: Mapping[str, IdPlace] = field(default_factory=dict)
    coordinates: Coordinates | None = None
    regions: Pointer | None = None  # in Abacus' own form

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", MappingProxyType(dict(self.ids)))

    def __hash__(self) -> int:  # the generated one would hash the mapping, which has no hash
        return hash((self.type, self.id, self.time))

    def id_of(self, type_: str) -> IdPlace:
        return self.ids.get(type_, self.id)
