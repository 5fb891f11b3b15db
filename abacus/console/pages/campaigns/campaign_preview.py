"""The messages of a campaign for one of the last events of its types."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from abacus.console.pages.drafts.preview import PreviewKind
from abacus.console.web.calls import Call
from abacus.core.fields import Fault
from abacus.documents.form.languages import LANGUAGES
from abacus.engage.actions.decide.deeds import Tell
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.preview import Filled
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.template import Unrenderable
from abacus.signals.events.recent import RecentEvents
from abacus.signals.events.types import Event, Value

_EVENT: Final = "for_event"  # the field that chooses the event
_OFFERED: Final = 20
_TOLD: Final = 4  # values of an event, where it is chosen
_LANGUAGES: Final = {each.value: each.words for each in LANGUAGES}


@dataclass(frozen=True)
class Message:
    """What a member reads in one language, or why nothing. `path` is the place of the template."""

    path: str
    where: str
    language: str
    title: str
    text: str
    fault: str | None


@dataclass(frozen=True)
class Preview:
    """The events to choose from, by their keys; the values of the chosen one, and the messages."""

    events: Sequence[tuple[str, str]]
    chosen: str | None
    values: Sequence[tuple[str, str]]
    messages: Sequence[Message]

    @property
    def faults(self) -> list[Fault]:
        return [Fault(each.path, f"for this event: {each.fault}") for each in self.messages if each.fault is not None]


def _is_for(call: Call, campaign: Campaign) -> bool:
    tells = any(isinstance(action.deed, Tell) for step in campaign.steps for action in step.actions)
    return tells and call.rooms.find(RecentEvents) is not None


async def _read(call: Call, campaign: Campaign, around: Publications) -> Preview:
    """For the event that was chosen, or else the newest."""
    key = call.form.get(_EVENT)
    events = await call.rooms[RecentEvents].newest(campaign.on, campaign.country, around.sources, _OFFERED)
    if not events:
        return Preview((), None, (), ())
    event = next((each for each in events if each.key == key), events[0])
    said = await call.rooms[CampaignDesk].preview(campaign, event, around)
    return Preview(
        events=[(each.key, _told(each, ZoneInfo(call.session.zone))) for each in events],
        chosen=event.key,
        values=list(_values(event)),
        messages=[_message(filled, words) for filled, words in said],
    )


def _message(filled: Filled, words: Words | Unrenderable) -> Message:
    locale, fault = filled.rendering.locale, str(words) if isinstance(words, Unrenderable) else None
    title, text = ("", "") if isinstance(words, Unrenderable) else (words.title, words.text)
    where = f"Step {filled.step}, deed {filled.deed}"
    return Message(filled.path, where, _LANGUAGES.get(locale, locale), title, text, fault)


def _told(event: Event, zone: ZoneInfo) -> str:
    """When, and what tells it from others; ids tell people nothing."""
    values = [f"{name} {value}" for name, value in _values(event) if not name.endswith("_id") and name != "key"]
    return f"{event.occurred_at.astimezone(zone):%a %H:%M}, {', '.join([event.type, *values[:_TOLD]])}"


def _values(event: Event) -> Iterator[tuple[str, str]]:
    for name, value in event.variables.items():
        yield name, _text(value)


def _text(value: Value) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(value)
        case datetime():
            return value.isoformat(timespec="seconds")
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


CAMPAIGN_PREVIEW: Final = PreviewKind(
    title="What members would read",
    about="The title and the text in each language, with the values of an event that has happened.",
    template="campaign_messages.html",
    is_for=_is_for,
    read=_read,
)
