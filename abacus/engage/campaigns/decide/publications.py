"""What is published beside a campaign, by which it is judged. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.engage.offers.decide.invited import OfferHead, head_of
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.rewards.decide.granted import RewardHead, head_of_reward
from abacus.engage.rewards.decide.reward import Reward
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.decide.recent import SeenValues
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import VariableType


@dataclass(frozen=True, slots=True)
class Publications:
    """Sources and counters by name, the card of each country, the names of segments and webhooks, external services
    with the type of their answer, the ids of regions, the offers and rewards that are not over, and the holdout of each
    country, in hundredths of its members. `seen` are values of the last events, where somebody has read them.
    """

    sources: Mapping[str, Source]
    now: datetime
    cards: Mapping[str, PublishedCard] = field(default_factory=dict)
    counters: Mapping[str, Definition] = field(default_factory=dict)
    segments: Collection[str] = frozenset()
    webhooks: Collection[str] = frozenset()
    externals: Mapping[str, VariableType] = field(default_factory=dict)
    regions: Collection[str] = frozenset()
    offers: Mapping[str, OfferHead] = field(default_factory=dict)
    rewards: Mapping[str, RewardHead] = field(default_factory=dict)
    holdouts: Mapping[str, int] = field(default_factory=dict)
    seen: SeenValues = field(default_factory=dict)

    def with_drafts(
        self,
        *,
        cards: Iterable[RateCard],
        sources: Iterable[Source],
        counters: Iterable[Definition],
        downstreams: Iterable[Downstream],
        offers: Iterable[Offer],
        rewards: Iterable[Reward],
    ) -> "Publications":
        """The same, once these drafts are published too."""
        here = {card.scope: PublishedCard(card, 0) for card in cards if card.effective_from <= self.now}
        there = list(downstreams)
        return replace(
            self,
            sources={**self.sources, **{source.name: source for source in sources}},
            cards={**here, **self.cards},
            counters={**self.counters, **{counter.name: counter for counter in counters}},
            webhooks={*self.webhooks, *(each.name for each in there if each.kind is DownstreamKind.WEBHOOK)},
            externals={**self.externals, **{each.name: each.service.answers for each in there if each.service}},
            offers={**self.offers, **{each.name: head_of(each) for each in offers}},
            rewards={**self.rewards, **{each.name: head_of_reward(each) for each in rewards}},
        )
