"""An event for a campaign, from a file or from the standard input."""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from abacus.cli.terminal.shell import settings
from abacus.core.errors import Refused, SetAside
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.types import Event

STANDARD_INPUT: Final = Path("-")


def read_event(file: Path, campaign: Campaign, beside: Publications, locate: Locate) -> Event:
    """The event of a message, by the first source that takes it. Raises `Refused`."""
    event = event_of(read_message(file), file, campaign.on, beside, locate, beside.now)
    if event is None:
        raise Refused(f"{file}: it is no event that {campaign.label} answers to")
    if event.occurred_at > beside.now:  # a worker allows for clocks that differ; this file has no sender
        raise Refused(f"{file}: it happens at {event.occurred_at.isoformat()}, which is still to come")
    return event


def read_message(file: Path) -> object:
    """What a file has in JSON. Raises `Refused`."""
    try:
        body = sys.stdin.buffer.read() if file == STANDARD_INPUT else file.read_bytes()
        return json.loads(body)
    except (OSError, ValueError) as error:
        raise Refused(f"{file}: {error}") from None


def event_of(
    message: object, file: Path, on: Sequence[EventType], beside: Publications, locate: Locate, now: datetime
) -> Event | None:
    """The event of a message of the topics that these types come from, or as it is posted. Raises `Refused`."""
    config = settings()
    is_posted = isinstance(message, dict) and "var" in message
    for topic in [config.events_topic] if is_posted else _topics(on, beside):
        reader = EventReader(beside.sources.values(), topic, events_topic=config.events_topic, locate=locate)
        try:
            event = reader.read(json.dumps(message).encode(), now)
        except SetAside as fault:
            raise Refused(f"{file}: {fault.detail}") from None
        if event is not None:
            return event
    return None


def _topics(on: Sequence[EventType], beside: Publications) -> Sequence[str]:
    named = (beside.sources[source].topic for source, _ in on if source in beside.sources)
    return list(dict.fromkeys(topic for topic in named if topic is not None))
