"""What is published beside a journey, by which it is judged. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.journeys.decide.entry import ByCall
from abacus.engage.journeys.decide.journey import Journey
from abacus.signals.events.types import VariableType


class JourneyHead(NamedTuple):
    """What another document has to know of a journey that it names: the fields of its context, where members enter by
    the API.
    """

    country: str
    context: Mapping[str, VariableType] | None


def head_of_journey(journey: Journey) -> JourneyHead:
    return JourneyHead(journey.country, journey.context if isinstance(journey.entry.how, ByCall) else None)


@dataclass(frozen=True, slots=True)
class JourneyPublications:
    """What is published beside campaigns too, the journeys that are not over, and the campaigns that keep what each
    member has had of them.
    """

    beside: Publications
    journeys: Mapping[str, JourneyHead] = field(default_factory=dict)
    campaigns: Collection[str] = frozenset()

    def with_drafts(self, beside: Publications, journeys: Iterable[Journey]) -> "JourneyPublications":
        """The same, once these drafts are published too."""
        return replace(
            self, beside=beside, journeys={**self.journeys, **{each.name: head_of_journey(each) for each in journeys}}
        )
