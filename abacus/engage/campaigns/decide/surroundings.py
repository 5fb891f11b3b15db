"""What is published beside a campaign, by which it is judged. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from abacus.pricing.decide.card import PublishedCard
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import VariableType


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Sources and counters by name, the card of each country, the names of segments and webhooks, and external services
    with the type of their answer.
    """

    sources: Mapping[str, Source]
    now: datetime
    cards: Mapping[str, PublishedCard] = field(default_factory=dict)
    counters: Mapping[str, Definition] = field(default_factory=dict)
    segments: Collection[str] = frozenset()
    webhooks: Collection[str] = frozenset()
    externals: Mapping[str, VariableType] = field(default_factory=dict)


class Everything(Collection[str]):
    """All names: for campaigns that were judged before."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
