"""An event for a campaign, from a file or from the standard input."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from abacus.cli.terminal.shell import settings
from abacus.core.errors import Refused, SetAside
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.types import Event

STANDARD_INPUT: Final = Path("-")


def read_event(file: Path, campaign: Campaign, beside: Publications) -> Event:
    """The event of a message, by the first source that takes it. Raises `Refused`."""
    try:
        body = sys.stdin.buffer.read() if file == STANDARD_INPUT else file.read_bytes()
        is_posted = isinstance(document := json.loads(body), dict) and "var" in document
    except (OSError, ValueError) as error:
        raise Refused(f"{file}: {error}") from None
    config = settings()
    topics = [config.events_topic] if is_posted else _topics(campaign, beside)
    for topic in topics:
        try:
            event = EventReader(beside.sources.values(), topic, events_topic=config.events_topic).read(body, beside.now)
        except SetAside as fault:
            raise Refused(f"{file}: {fault.detail}") from None
        if event is not None:
            if event.occurred_at > beside.now:  # a worker allows for clocks that differ; this file has no sender
                raise Refused(f"{file}: it happens at {event.occurred_at.isoformat()}, which is still to come")
            return event
    raise Refused(f"{file}: it is no event that {campaign.label} answers to")


def _topics(campaign: Campaign, beside: Publications) -> Sequence[str]:
    named = (beside.sources[source].topic for source, _ in campaign.on if source in beside.sources)
    return list(dict.fromkeys(topic for topic in named if topic is not None))
