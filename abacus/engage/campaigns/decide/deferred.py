"""An event that campaigns are decided for later, and its form on the retry queue. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired

import orjson
from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.platform.validation import unreadable
from abacus.signals.events.types import Position

ENVELOPE_NAME: Final = "events"


class Deferred(NamedTuple):
    """`event` is as Abacus publishes it; `campaigns` wait for a value. `attempt` counts the failures so far, the first
    at `first_failed_at`. `position` is where the event was read first.
    """

    event: bytes
    origin: str
    campaigns: tuple[str, ...]
    attempt: int
    first_failed_at: datetime
    reason: str
    position: Position | None = None


class PositionMessage(TypedDict):
    """Where the message of an event stands."""

    topic: str
    partition: Annotated[int, Field(ge=0)]
    offset: Annotated[int, Field(ge=0)]


class DeferredMessage(TypedDict):
    """An event on the retry queue of campaigns."""

    event: Mapping[str, Any]
    origin: str
    campaigns: Annotated[list[str], Field(min_length=1)]
    attempt: Annotated[int, Field(ge=1, le=1_000_000)]
    first_failed_at: AwareDatetime
    reason: str
    position: NotRequired[PositionMessage | None]


class DeferredEnvelope(TypedDict):
    """The body of a message on that queue. `by` and `mac` are there where producers sign envelopes."""

    v: Literal[1]
    events: list[DeferredMessage]
    by: NotRequired[str]
    mac: NotRequired[str]


ENVELOPE: Final[TypeAdapter[DeferredEnvelope]] = TypeAdapter(DeferredEnvelope)


def encode_deferred(deferred: Deferred) -> bytes:
    position = deferred.position._asdict() if deferred.position is not None else None
    return orjson.dumps({**deferred._asdict(), "event": orjson.Fragment(deferred.event), "position": position})


def decode_deferred(body: str) -> Sequence[Deferred]:
    """Raises `SetAside` when the envelope cannot be read."""
    try:
        envelope = ENVELOPE.validate_json(body)
    except ValidationError as error:
        raise unreadable("an envelope of deferred events", error) from None
    return [
        Deferred(
            event=orjson.dumps(each["event"]),
            origin=each["origin"],
            campaigns=tuple(each["campaigns"]),
            attempt=each["attempt"],
            first_failed_at=each["first_failed_at"],
            reason=each["reason"],
            position=Position(**position) if (position := each.get("position")) is not None else None,
        )
        for each in envelope["events"]
    ]
