"""What is published beside a reward, by which it is judged. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.pricing.decide.card import PublishedCard, RateCard


@dataclass(frozen=True, slots=True)
class RewardPublications:
    """The card of each country, the names of segments, webhooks and partners, and the free codes of each pool."""

    now: datetime
    cards: Mapping[str, PublishedCard] = field(default_factory=dict)
    segments: Collection[str] = frozenset()
    webhooks: Collection[str] = frozenset()
    partners: Collection[str] = frozenset()
    pools: Mapping[str, int] = field(default_factory=dict)

    def with_drafts(self, *, cards: Iterable[RateCard], downstreams: Iterable[Downstream]) -> "RewardPublications":
        """The same, once these drafts are published too."""
        here = {card.scope: PublishedCard(card, 0) for card in cards if card.effective_from <= self.now}
        there = {each.name for each in downstreams if each.kind is DownstreamKind.WEBHOOK}
        return replace(self, cards={**here, **self.cards}, webhooks={*self.webhooks, *there})
