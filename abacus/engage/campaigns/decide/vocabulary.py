"""What the parts of a campaign may speak of, and the reading of its rules. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, mapping
from abacus.engage.actions.decide.templates import Trial, sample
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.downstreams.decide.question import service_sides
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary
from abacus.signals.events.types import Event, VariableType
from abacus.signals.facts.decide.catalog import MEMBER_SIDES, Catalog, FixedSides, segment_sides
from abacus.signals.facts.decide.counter_sides import CounterSides
from abacus.signals.rules.decide.document import parse_rule, restore_document, rule_document
from abacus.signals.rules.decide.place_sides import places_of
from abacus.signals.rules.decide.sides import Resolver, of_event, of_unknown_event, sides_of_event
from abacus.signals.rules.decide.types import Origin

CAMPAIGN: Final = Origin("campaign", cost=30)
CAMPAIGN_SIDES: Final = FixedSides(
    CAMPAIGN,
    {
        "campaign.count": VariableType.INTEGER,
        "campaign.runs": VariableType.INTEGER,
        "campaign.points": VariableType.INTEGER,
    },
)


def of_campaign(on: Vocabulary | None, around: Publications) -> Resolver:
    """The left sides of a campaign that answers to these types of events. Without them no variable is judged."""
    of_facts = of_unknown_event if on is None else of_event(on.any(), places_of(on, around.regions))
    return _catalog(on, around).resolver(of_facts)


def sides_there_are(on: Vocabulary, around: Publications) -> Mapping[str, VariableType]:
    """The left sides that `of_campaign` knows, with their types: of each counter one, with a range to be changed."""
    return {**sides_of_event(on.any(), places_of(on, around.regions)), **_catalog(on, around).types()}


def _catalog(on: Vocabulary | None, around: Publications) -> Catalog:
    return Catalog(
        MEMBER_SIDES,
        CAMPAIGN_SIDES,
        segment_sides(around.segments),
        CounterSides(around.counters, on),
        service_sides(around.externals),
    )


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
        country: str = "",
    ) -> None:
        self.on = on
        self.country = country
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
