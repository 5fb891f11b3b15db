"""What a journey can choose from: what is published now, and its own nodes. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from abacus.documents.form.types import Choices, Side, options
from abacus.engage.campaigns.decide.campaign_choices import campaign_choices
from abacus.engage.journeys.decide.entry import EXPIRING, LIFE_EVENTS, LifeMoment
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.sides import sides_there_are
from abacus.pricing.decide.likely import likely_values
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.rules.decide.choices import side, types_named

_ABOUT: Final = {
    "var": "the event of the entry",
    "event": "the event of the entry",
    "place": "where it happened",
    "context": "the context",
    "member": "the member",
    "campaign": "campaigns",
    "journey": "journeys",
    "segment": "segments",
    "counter": "counters",
}


def journey_choices(document: Mapping[str, Any], around: JourneyPublications) -> Choices:
    """What is published now, for a draft that may have any faults."""
    country = str(document.get("country", ""))
    of_campaigns = campaign_choices(document, around.beside)
    nodes = document.get("nodes")
    there = sorted(name for name, head in around.journeys.items() if head.country == country)
    return replace(
        of_campaigns,
        lists={
            **of_campaigns.lists,
            "nodes": options(nodes if isinstance(nodes, Mapping) else ()),
            "segments": options(sorted(around.beside.segments)),
            "journeys": options(there),
            "startable": options(name for name in there if around.journeys[name].context is not None),
        },
        sides=_sides(document, country, around),
    )


def _sides(document: Mapping[str, Any], country: str, around: JourneyPublications) -> Mapping[str, Side]:
    likely = likely_values(country, around.beside.cards)
    sides = {}
    for text, type_ in sides_there_are(_on(document, around), _context(document), around).items():
        origin, _, name = text.partition(".")
        sides[text] = side(
            text,
            type_,
            _ABOUT.get(origin, "services"),
            real=(),
            likely=likely.get(name, likely.get(text, ())),
            argument="7d" if origin == COUNTER.name else None,
        )
    return sides


def _on(document: Mapping[str, Any], around: JourneyPublications) -> list[EventType]:
    """The types of events by which members enter, as far as these are no fault."""
    entry = document.get("entry")
    if not isinstance(entry, Mapping):
        return []
    if entry.get("life") in LIFE_EVENTS:
        return [LIFE_EVENTS[LifeMoment(entry["life"])]]
    return list(types_named(entry.get("on"), around.beside.sources))


def _context(document: Mapping[str, Any]) -> Mapping[str, VariableType]:
    entry, context = document.get("entry"), document.get("context")
    if isinstance(entry, Mapping) and entry.get("life") == LifeMoment.POINTS_EXPIRING:
        return EXPIRING
    if not isinstance(context, Mapping):
        return {}
    return {str(name): VariableType(type_) for name, type_ in context.items() if type_ in list(VariableType)}
