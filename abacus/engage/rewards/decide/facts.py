"""What a rule of a reward may speak of: the member, its segments, and the country of the reward. Pure."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from abacus.signals.events.types import Value, VariableType
from abacus.signals.facts.decide.catalog import MEMBER_SIDES, Catalog, segment_sides
from abacus.signals.rules.decide.sides import FactsKind, Resolver, of_facts

_KIND: Final = FactsKind("rewards", {"reward.country": ("country", VariableType.TEXT)})


class RewardFacts(NamedTuple):
    """The facts of a reward itself."""

    country: str

    @property
    def variables(self) -> Mapping[str, Value]:
        return {}


def _catalog(segments: Collection[str]) -> Catalog:
    return Catalog(MEMBER_SIDES, segment_sides(segments))


def reward_sides(segments: Collection[str]) -> Resolver:
    """The left sides, with these segments."""
    return _catalog(segments).resolver(of_facts(_KIND, {}))


def sides_there_are(segments: Collection[str]) -> Mapping[str, VariableType]:
    """The same to choose from, with their types."""
    return {text: type_ for text, (_, type_) in _KIND.fields.items()} | dict(_catalog(segments).types())
