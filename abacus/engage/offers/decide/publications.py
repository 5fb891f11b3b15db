"""What is published beside an offer, by which it is judged. Pure."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, TypeAlias

from abacus.engage.categories.decide.tree import Categories
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.types import VariableType

# The countries of places and of regions by their ids, under the words "places" and "regions".
Spots: TypeAlias = Mapping[str, Mapping[str, str]]
_NO_SPOTS: Final[Spots] = MappingProxyType({"places": MappingProxyType({}), "regions": MappingProxyType({})})


async def _none_there(_: Mapping[str, Collection[str]]) -> Spots:
    return _NO_SPOTS


@dataclass(frozen=True, slots=True)
class OfferPublications:
    """The card and the categories of each country that has some, counters by name, the names of segments, and external
    services with the type of their answer. `pools` are the offers for which single codes are loaded, each with its
    country. Of places and regions, which are many, `spots` has what a document names; `seek` finds it.
    """

    now: datetime
    cards: Mapping[str, PublishedCard] = field(default_factory=dict)
    categories: Mapping[str, Categories] = field(default_factory=dict)
    counters: Mapping[str, Definition] = field(default_factory=dict)
    segments: Collection[str] = frozenset()
    externals: Mapping[str, VariableType] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)
    spots: Spots = field(default_factory=lambda: _NO_SPOTS)
    seek: Callable[[Mapping[str, Collection[str]]], Awaitable[Spots]] = field(default=_none_there, compare=False)

    def with_drafts(
        self,
        *,
        cards: Iterable[RateCard],
        categories: Iterable[Categories],
        counters: Iterable[Definition],
        downstreams: Iterable[Downstream],
    ) -> "OfferPublications":
        """The same, once these drafts are published too."""
        here = {card.scope: PublishedCard(card, 0) for card in cards if card.effective_from <= self.now}
        return replace(
            self,
            cards={**here, **self.cards},
            categories={**self.categories, **{each.country: each for each in categories}},
            counters={**self.counters, **{each.name: each for each in counters}},
            externals={**self.externals, **{each.name: each.service.answers for each in downstreams if each.service}},
        )
