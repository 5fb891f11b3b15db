"""The left sides of the rules of journeys. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abacus.core.fields import Bad, quoted
from abacus.engage.campaigns.decide.vocabulary import CAMPAIGN
from abacus.engage.downstreams.decide.question import service_sides
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import MEMBER_SIDES, Catalog, segment_sides
from abacus.signals.facts.decide.counter_sides import CounterSides, KeyFields
from abacus.signals.rules.decide.names import check_named
from abacus.signals.rules.decide.place_sides import places_of
from abacus.signals.rules.decide.sides import Resolver, of_event, sides_of_event
from abacus.signals.rules.decide.types import Origin, Side, looked_up

CONTEXT: Final = Origin("context", cost=1)  # it is in memory with the visit
JOURNEY: Final = Origin("journey", cost=30)
ZONE: Final = Origin("zone", cost=20)  # waits ask for it, and rules do not
MEMBER_ZONE: Final = looked_up(ZONE, "zone", VariableType.TEXT)
_OF_CAMPAIGN: Final = {"runs": VariableType.INTEGER, "points": VariableType.INTEGER}
_OF_JOURNEY: Final = {"visits": VariableType.INTEGER, "inside": VariableType.BOOLEAN}


@dataclass(frozen=True, slots=True)
class ContextSides:
    """The fields of the context."""

    types: Mapping[str, VariableType]

    origin = CONTEXT

    def type_of(self, text: str) -> VariableType:
        return context_type(text.removeprefix(f"{CONTEXT.name}."), self.types)

    def texts(self) -> Iterable[str]:
        return [f"{CONTEXT.name}.{name}" for name in self.types]


@dataclass(frozen=True, slots=True)
class SidesOfEach:
    """Some left sides of each document of a kind, such as `campaign.third_order.runs`."""

    origin: Origin
    names: Collection[str]
    words: Mapping[str, VariableType]

    def type_of(self, text: str) -> VariableType:
        name, _, word = text.removeprefix(f"{self.origin.name}.").rpartition(".")
        if word not in self.words:
            raise Bad(f"{quoted(text)} is unknown; write {self.origin.name}.NAME.{' or '.join(self.words)}")
        check_named(name, self.names, self.origin.name, f"abacus {self.origin.name}s list")
        return self.words[word]

    def texts(self) -> Iterable[str]:
        return [f"{self.origin.name}.{name}.{word}" for name in sorted(self.names) for word in self.words]


def context_type(name: str, types: Mapping[str, VariableType]) -> VariableType:
    """Raises `Bad` for a field that the context does not have."""
    if name not in types:
        there = f"it has {', '.join(types)}" if types else "it has no fields"
        raise Bad(f"the context of this journey has no field {quoted(name)}; {there}")
    return types[name]


def of_journey(on: Sequence[EventType], context: Mapping[str, VariableType], around: JourneyPublications) -> Resolver:
    """The left sides of a rule about a member, and an event of one of these types. Without types there is no event."""
    vocabulary = Vocabulary(on, around.beside.sources) if on else None
    of_facts: Resolver = _of_no_event
    if vocabulary is not None:
        of_facts = of_event(vocabulary.any(), places_of(vocabulary, around.beside.regions))
    return _catalog(vocabulary, context, around).resolver(of_facts)


def sides_there_are(
    on: Sequence[EventType], context: Mapping[str, VariableType], around: JourneyPublications
) -> Mapping[str, VariableType]:
    """The left sides that `of_journey` knows, with their types: of each counter one, with a range to be changed."""
    vocabulary = Vocabulary(on, around.beside.sources) if on else None
    of_facts: Mapping[str, VariableType] = {}
    if vocabulary is not None:
        of_facts = sides_of_event(vocabulary.any(), places_of(vocabulary, around.beside.regions))
    return {**of_facts, **_catalog(vocabulary, context, around).types()}


def _of_no_event(text: str) -> Side:
    raise Bad(f"{quoted(text)} is unknown here: there is no event that it could be of")


class _NoEvent:
    """The key of a counter can be made of the member and the country alone."""

    def type_of(self, name: str) -> VariableType:
        raise Bad(f"the counter is kept by {quoted(name)}, and there is no event that has it")

    def check_has_countries(self) -> None:
        """The country is that of the journey."""


_NO_EVENT: Final = _NoEvent()


def _catalog(on: Vocabulary | None, context: Mapping[str, VariableType], around: JourneyPublications) -> Catalog:
    fields: KeyFields = _NO_EVENT if on is None else on
    return Catalog(
        ContextSides(context),
        MEMBER_SIDES,
        segment_sides(around.beside.segments),
        SidesOfEach(CAMPAIGN, around.campaigns, _OF_CAMPAIGN),
        SidesOfEach(JOURNEY, around.journeys, _OF_JOURNEY),
        CounterSides(around.beside.counters, fields),
        service_sides(around.beside.externals),
    )
