"""What is published beside a reward, by which it is judged. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.engage.offers.decide.invited import OfferHead, head_of
from abacus.engage.offers.decide.offer import Offer
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.types import VariableType


@dataclass(frozen=True, slots=True)
class RewardPublications:
    """The card of each country, the names of segments, webhooks and partners, the free codes of each pool, counters by
    name, external services with the type of their answer, the offers that are not over, and the programs whose points
    some card gives.
    """

    now: datetime
    cards: Mapping[str, PublishedCard] = field(default_factory=dict)
    segments: Collection[str] = frozenset()
    webhooks: Collection[str] = frozenset()
    partners: Collection[str] = frozenset()
    pools: Mapping[str, int] = field(default_factory=dict)
    counters: Mapping[str, Definition] = field(default_factory=dict)
    externals: Mapping[str, VariableType] = field(default_factory=dict)
    offers: Mapping[str, OfferHead] = field(default_factory=dict)
    programs: Collection[str] = frozenset()

    def with_drafts(
        self,
        *,
        cards: Iterable[RateCard],
        counters: Iterable[Definition],
        downstreams: Sequence[Downstream],
        offers: Iterable[Offer],
    ) -> "RewardPublications":
        """The same, once these drafts are published too."""
        here = {card.scope: PublishedCard(card, 0) for card in cards if card.effective_from <= self.now}
        there = {each.name for each in downstreams if each.kind is DownstreamKind.WEBHOOK}
        return replace(
            self,
            cards={**here, **self.cards},
            webhooks={*self.webhooks, *there},
            counters={**self.counters, **{each.name: each for each in counters}},
            externals={**self.externals, **{each.name: each.service.answers for each in downstreams if each.service}},
            offers={**self.offers, **{each.name: head_of(each) for each in offers}},
            programs={*self.programs, *(each.card.program for each in here.values())},
        )
