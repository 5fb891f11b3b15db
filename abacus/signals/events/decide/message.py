"""The one form in which events of every source are posted, and published on the events topic. Pure."""

from decimal import Decimal
from typing import Annotated, Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field, Strict, StrictBool, StrictInt, StrictStr, StringConstraints

from abacus.core.ids import EVENT_ID_PATTERN, ID_PATTERN, NAME_PATTERN
from abacus.core.points import plain
from abacus.platform.validation import Moment
from abacus.signals.events.decide.document import MAX_VARIABLES, VARIABLE_PATTERN
from abacus.signals.events.decide.source import SOURCE_PATTERN
from abacus.signals.events.decide.values import MAX_TEXT, MAX_TEXTS
from abacus.signals.events.types import Event

EXAMPLE: Final[dict[str, Any]] = {
    "source": "weather",
    "type": "rain.drop",
    "id": "drop-1",
    "member_id": "bob",
    "occurred_at": "2026-01-10T12:30:00+08:00",
    "var": {"city_id": "111222", "amount": "12.5"},
}

_Name = Annotated[str, StringConstraints(pattern=rf"^{VARIABLE_PATTERN}$")]
_Text = Annotated[StrictStr, StringConstraints(max_length=MAX_TEXT)]
_Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
_Texts = Annotated[list[_Text], Field(max_length=MAX_TEXTS)]


class EventMessage(BaseModel):
    """Something that happened. `var` has the variables that the source lists for the type; decimals are texts or
    numbers, times are texts. Senders may say by `lat` and `lon` where it happened; these are forgotten, and `regions`
    has the ids of the regions there instead.
    """

    model_config = ConfigDict(title="Event", frozen=True, extra="forbid", json_schema_extra={"examples": [EXAMPLE]})

    source: Annotated[str, StringConstraints(pattern=rf"^{SOURCE_PATTERN}$")]
    type: Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
    id: Annotated[str, StringConstraints(pattern=EVENT_ID_PATTERN)]
    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)] | None = None
    country: Annotated[str, StringConstraints(pattern=ID_PATTERN)] | None = None
    occurred_at: Moment
    var: Annotated[
        dict[_Name, StrictBool | StrictInt | _Number | _Text | _Texts | None], Field(max_length=MAX_VARIABLES)
    ] = Field(default_factory=dict)
    lat: Annotated[float, Strict(), Field(ge=-90, le=90, allow_inf_nan=False)] | None = None
    lon: Annotated[float, Strict(), Field(ge=-180, le=180, allow_inf_nan=False)] | None = None
    regions: list[str] | None = None

    def as_json(self) -> dict[str, Any]:
        """As the message stands on a topic, for the form of its source to read."""
        return {**dict(self), "occurred_at": self.occurred_at.isoformat()}


def encode_event(event: Event) -> bytes:
    """The event as it is published on the events topic."""
    document: dict[str, Any] = {"source": event.source, "type": event.type, "id": event.id}
    if event.member_id is not None:
        document["member_id"] = event.member_id
    if event.country is not None:
        document["country"] = event.country
    document["occurred_at"] = event.occurred_at
    document["var"] = {
        name: plain(value) if isinstance(value, Decimal) else value for name, value in event.variables.items()
    }
    if event.regions is not None:
        document["regions"] = event.regions
    return orjson.dumps(document)


def partition_key(event: Event) -> bytes:
    """All events of a member are in order; others are spread by their ids."""
    return (event.member_id or event.id).encode()
