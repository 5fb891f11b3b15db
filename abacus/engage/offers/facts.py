"""What rules of offers look up beside the member: counters, and what services say."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple
from zoneinfo import ZoneInfo

from abacus.engage.downstreams.facts import AskService, ServiceFacts
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.types import FactRegistry


class Countable(NamedTuple):
    """The counters that are published. No event has to be counted first, so no source is asked."""

    counters: Mapping[str, Definition]
    sources: Mapping[str, Source] = MappingProxyType({})


class OfferSubject(NamedTuple):
    """An item that is asked about in a zone: its facts as those of an event that happens now, and was not counted."""

    facts: Event
    zone: ZoneInfo
    position: Position | None = None

    @property
    def at(self) -> datetime:
        return self.facts.occurred_at


def offer_facts(*, counters: CounterFacts, services: AskService) -> FactRegistry[OfferSubject]:
    """Everything that a rule of an offer may look up, but for the member and segments, which are known beforehand."""
    return FactRegistry(counters, ServiceFacts(services))
