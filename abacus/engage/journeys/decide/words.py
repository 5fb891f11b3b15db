"""What the parts of a journey may speak of, and the reading of its rules and messages. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, mapping, string
from abacus.engage.actions.decide.templates import Trial, event_fields, sample, sample_values
from abacus.engage.journeys.decide.node import Occasion, RuleDocument
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.sides import of_journey
from abacus.engage.notify.decide.template import FilledTemplate
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary, event_type_of
from abacus.signals.events.types import Event, VariableType
from abacus.signals.rules.decide.document import parse_rule, restore_document, rule_document
from abacus.signals.rules.decide.impossible import cannot_hold

MAX_TYPES: Final = 50
_NO_TYPES: Final[tuple[EventType, ...]] = ()
_COUNTRY: Final = ("event.country", "var.country")  # events of other countries bring nobody in
_NOTHING_KNOWN: Final[Mapping[str, str]] = {}
NO_EVENT: Final = ("journeys", "entry")  # what the facts of a member are of who entered by no event


class JourneyWords:
    """The words of a journey whose members enter by some types of events, or by none. Without `around` nothing is
    judged: the document was published, and what stood around it may be other by now.
    """

    def __init__(
        self,
        around: JourneyPublications | None,
        faults: list[Fault],
        trials: list[Trial],
        *,
        name: str,
        country: str,
    ) -> None:
        self.around = around
        self.name = name
        self.country = country
        self.on: Sequence[EventType] = ()
        self.context: Mapping[str, VariableType] = {}
        self.languages: Sequence[str] = ()
        self.faults = faults
        self.trials = trials

    def rule(self, table: Fields, name: str) -> RuleDocument | None:
        """The rule of a field that may be there, about a member with the event by which it entered."""
        return self._rule(table, name, self.on, dict.fromkeys(_COUNTRY, self.country))

    def needed_rule(self, table: Fields, name: str) -> RuleDocument | None:
        """The same of a field that has to be there."""
        if name not in table.values:
            table.read(name, mapping, None)
        return self.rule(table, name)

    def occasion(self, table: Fields) -> Occasion | None:
        """Events of some types, and a rule about each of them."""
        before = len(self.faults)
        on = self.types(table, "on")
        when = self._rule(table, "when", on)
        return Occasion(on, when) if len(self.faults) == before and on else None

    def types(self, table: Fields, name: str, *, optional: bool = False) -> tuple[EventType, ...]:
        """Types of events that have members, each once; nothing where one has a fault."""
        if optional and name not in table.values:
            return table.read_if_there(name, lambda _: _NO_TYPES, _NO_TYPES)
        texts: Sequence[str] = table.read(name, _texts, ())
        on: dict[EventType, None] = {}
        before = len(self.faults)
        for place, text in enumerate(texts):
            try:
                type_ = event_type_of(text, None if self.around is None else self.around.beside.sources)
                if self.around is not None:
                    Vocabulary([type_], self.around.beside.sources).check_has_members()
                on[type_] = None
            except Bad as bad:
                table.note(f"{name}[{place}]", str(bad))
        return tuple(on) if len(self.faults) == before else ()

    def type_of_event(self, name: str) -> VariableType:
        """The type of a variable that every event has by which members enter. Raises `Bad`."""
        if self.around is None or not self.on:
            raise Bad("members enter by no event")
        return Vocabulary(self.on, self.around.beside.sources).type_of(name)

    def try_message(self, path: str, template: str, locale: str) -> None:
        """The template is rendered for each type of event, and a sample of the context, before anybody relies on it."""
        if self.around is None:
            return
        context = sample_values(self.context)
        for event in self._samples(self.around):
            fields = message_fields(self.name, event, context)
            self.trials.append(Trial(path, f"{event.source}/{event.type}", FilledTemplate(template, locale, fields)))

    def judged(self, table: Fields, name: str, check: Callable[[JourneyPublications], None]) -> None:
        """Notes what a check raises as `Bad`."""
        if self.around is not None:
            try:
                check(self.around)
            except Bad as bad:
                table.note(name, str(bad))

    def _rule(
        self,
        table: Fields,
        name: str,
        on: Sequence[EventType],
        known: Mapping[str, str] = _NOTHING_KNOWN,
    ) -> RuleDocument | None:
        document = table.read_if_there(name, mapping, None)
        path = table.path_of(name)
        if document is None:
            return None
        if self.around is None:
            return restore_document(document, path=path)
        try:
            rule = parse_rule(document, of_journey(on, self.context, self.around), path=path)
        except DocumentFaults as error:
            self.faults += error.faults
            return None
        if why := cannot_hold(rule, known):
            self.faults.append(Fault(path, f"can never hold: {why}"))
        return rule_document(rule)

    def _samples(self, around: JourneyPublications) -> list[Event]:
        if not self.on:
            return [sample({}, NO_EVENT)]
        return [sample(around.beside.sources[source].types[type_], (source, type_)) for source, type_ in self.on]


def message_fields(journey: str, event: Event, context: Mapping[str, object]) -> dict[str, object]:
    """What a template may use: `event.NAME` is of the event by which the member entered."""
    return {"journey": journey, "event": event_fields(event), "context": dict(context)}


def _texts(value: object) -> Sequence[str]:
    if not isinstance(value, list | tuple) or not value:
        raise Bad('write an array of types of events, such as ["transactions/transaction.completed"]')
    if len(value) > MAX_TYPES:
        raise Bad(f"{len(value)} types of events; write at most {MAX_TYPES}")
    return [string(each) for each in value]
