"""The left sides that a campaign's rules know beside the event's own. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.downstreams.decide.service_sides import service_sides
from abacus.signals.events.decide.vocabulary import Vocabulary
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import Catalog, FixedSides
from abacus.signals.facts.decide.counter_sides import CounterSides
from abacus.signals.facts.decide.member_sides import MEMBER_SIDES
from abacus.signals.facts.decide.segment_sides import segment_sides
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
    return _catalog(on, around).resolver(of_unknown_event if on is None else of_event(on.any()))


def sides_there_are(on: Vocabulary, around: Publications) -> Mapping[str, VariableType]:
    """The left sides that `of_campaign` knows, with their types: of each counter one, with a range to be changed."""
    return {**sides_of_event(on.any()), **_catalog(on, around).types()}


def _catalog(on: Vocabulary | None, around: Publications) -> Catalog:
    return Catalog(
        MEMBER_SIDES,
        CAMPAIGN_SIDES,
        segment_sides(around.segments),
        CounterSides(around.counters, on),
        service_sides(around.externals),
    )
