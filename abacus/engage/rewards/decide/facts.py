"""What a rule of a reward may speak of: the country of the reward, the member, what is counted of it, and what services
say of it. Pure.
"""

from collections.abc import Mapping
from typing import Final

from abacus.core.fields import Bad, quoted
from abacus.engage.downstreams.decide.question import service_sides
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import MEMBER_SIDES, Catalog, segment_sides
from abacus.signals.facts.decide.counter_sides import CounterSides
from abacus.signals.rules.decide.sides import FactsKind, Resolver, of_facts
from abacus.signals.rules.decide.types import Side

_COUNTRY: Final = "reward.country"
_KIND: Final = FactsKind("rewards", {_COUNTRY: ("country", VariableType.TEXT)})
_ELSEWHERE: Final = frozenset({"var", "event", "campaign"})  # origins that other rules have


class _RequestFields:
    """A request has a member and a country: counters by other fields have no key for it."""

    def type_of(self, name: str) -> VariableType:
        raise Bad(f"the counter is kept by {quoted(name)}, which a request for a reward does not have")

    def check_has_countries(self) -> None:
        """Every request has the country of the reward."""


def reward_sides(around: RewardPublications) -> Resolver:
    """The left sides, with what is published."""
    resolve = of_facts(_KIND, {})

    def of_request(text: str) -> Side:
        if text.partition(".")[0] in _ELSEWHERE:
            raise Bad(f"{quoted(text)} is no fact of a request for a reward; it has {_COUNTRY}")
        return resolve(text)

    return _catalog(around).resolver(of_request)


def sides_there_are(around: RewardPublications) -> Mapping[str, VariableType]:
    """The same to choose from, with their types."""
    return {text: type_ for text, (_, type_) in _KIND.fields.items()} | dict(_catalog(around).types())


def _catalog(around: RewardPublications) -> Catalog:
    return Catalog(
        MEMBER_SIDES,
        segment_sides(around.segments),
        CounterSides(around.counters, _RequestFields()),
        service_sides(around.externals),
    )
