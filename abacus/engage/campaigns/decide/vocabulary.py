"""What the parts of a campaign may speak of, and the reading of its rules. Pure."""

from collections.abc import Mapping, Sequence

from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, mapping
from abacus.engage.actions.decide.templates import Trial, sample
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.sides import of_campaign
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary
from abacus.signals.events.types import Event, VariableType
from abacus.signals.rules.decide.document import parse_rule, restore_document, rule_document


class Words:
    """The words of a campaign that answers to some types of events. Without `around` nothing is judged: the document
    was published, and what stood around it may be other by now.
    """

    def __init__(
        self,
        on: Sequence[EventType] | None,
        around: Publications | None,
        faults: list[Fault],
        trials: list[Trial],
    ) -> None:
        self.on = on
        self.around = around
        self.samples: Sequence[Event] = ()
        self.trials = trials
        self._faults = faults
        self._vocabulary: Vocabulary | None = None
        if on and around is not None:
            self._vocabulary = Vocabulary(on, around.sources)
            self.samples = [sample(around.sources[source].types[type_], (source, type_)) for source, type_ in on]

    def check_members(self) -> None:
        """Raises `Bad` where an event has no member: a campaign is always for one."""
        if self._vocabulary is not None:
            self._vocabulary.check_has_members()

    def type_of(self, name: str) -> VariableType:
        """The type of a variable that every event has. Raises `Bad`."""
        if self._vocabulary is None:
            raise Bad("the types of events are at fault")
        return self._vocabulary.type_of(name)

    def rule(self, table: Fields, name: str) -> Mapping[str, object] | None:
        """The rule of a field that may be there, as it is written everywhere."""
        document = table.read_if_there(name, mapping, None)
        if document is None:
            return None
        if self.around is None:
            return restore_document(document, path=table.path_of(name))
        try:
            rule = parse_rule(document, of_campaign(self._vocabulary, self.around), path=table.path_of(name))
        except DocumentFaults as error:
            self._faults += error.faults
            return None
        return rule_document(rule)
