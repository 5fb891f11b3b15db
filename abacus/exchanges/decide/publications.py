"""What is published beside a programme, by which it is judged. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.types import VariableType


@dataclass(frozen=True, slots=True)
class ExchangePublications:
    """The card of each country, the partners that are enabled, and what rules speak of: names of segments, counters by
    name, and external services with the type of their answer. `to_private`: whether partners may have addresses within.
    """

    now: datetime
    cards: Mapping[str, PublishedCard] = field(default_factory=dict)
    partners: Collection[str] = frozenset()
    segments: Collection[str] = frozenset()
    counters: Mapping[str, Definition] = field(default_factory=dict)
    externals: Mapping[str, VariableType] = field(default_factory=dict)
    to_private: bool = False

    def with_drafts(
        self, *, cards: Iterable[RateCard], counters: Iterable[Definition], downstreams: Sequence[Downstream]
    ) -> "ExchangePublications":
        """The same, once these drafts are published too."""
        here = {card.scope: PublishedCard(card, 0) for card in cards if card.effective_from <= self.now}
        return replace(
            self,
            cards={**here, **self.cards},
            counters={**self.counters, **{each.name: each for each in counters}},
            externals={**self.externals, **{each.name: each.service.answers for each in downstreams if each.service}},
        )
