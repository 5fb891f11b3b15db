"""How a member enters a journey that a command only tries."""

from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from abacus.cli.campaigns.campaign_events import event_of, read_message
from abacus.core.errors import Refused
from abacus.core.fields import LATEST
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.words import NO_EVENT
from abacus.engage.journeys.facts import Been
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.types import Event

Which: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME[@N]|FILE", help="A journey, or the file of a draft.", show_default=False)
]
Context: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The context of the entry, in JSON; - is standard input.")
]
EnteredAt: TypeAlias = Annotated[
    str | None, typer.Option("--at", metavar="TIME", help="The time of the entry. Default: the event's, or now.")
]


async def nowhere(_: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Been]:
    """A member that only tries a journey was in none."""
    return {}


def entry_of(
    journey: Journey,
    beside: JourneyPublications,
    locate: Locate,
    file: Path | None,
    member: str | None,
    at: datetime | None,
    now: datetime,
) -> Event:
    """The event of the entry; without one, an event that says only who, where and when. Raises `Refused`."""
    on = journey.entry.on
    if on:
        if file is None:
            raise Refused(f"members enter {journey.name} by {', '.join('/'.join(each) for each in on)}; write --event")
        event = event_of(read_message(file), file, on, beside.beside, locate, LATEST)
        if event is None:
            raise Refused(f"{file}: it is no event by which members enter {journey.name}")
        return event._replace(member_id=member or event.member_id, occurred_at=at or event.occurred_at)
    if member is None:
        raise Refused(f"members enter {journey.name} by no event; write --member")
    return Event(*NO_EVENT, f"{journey.name}:1:{member}", member, journey.country, at or now, {})
