"""A question under way: who asks, what is known of the member, and the values that were looked up for each item."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from abacus.core.errors import Unavailable
from abacus.engage.offers.decide.ask import Ask, Reading, Shown
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.basket import Item, sum_of
from abacus.engage.offers.decide.choice import Found
from abacus.engage.offers.decide.purchase import Earning, Purchases, earned
from abacus.engage.offers.facts import OfferSubject
from abacus.engage.offers.metrics import OFFER_QUESTIONS
from abacus.platform.loop_turn import LoopTurn
from abacus.pricing.decide.card import BASE_TIER
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.types import NOT_NOW, FactRegistry
from abacus.signals.facts.types import Found as FoundValue
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.types import Origin, Side

_WHOLE: Final = OFFER_QUESTIONS.labels("whole")
_DEGRADED: Final = OFFER_QUESTIONS.labels("degraded")
_ASKED: Final = ("offers", "asked")  # source and type of the facts of an item

Told: TypeAlias = Value | AtLeast | None


@dataclass
class Conversation:
    """`tier` is None where it cannot be told now. `known` has the values that are the same for all items."""

    ask: Ask
    asker: Asker
    tier: str | None
    known: Mapping[str, Told]
    purchases: Purchases
    as_of: datetime | None = None
    is_degraded: bool = False
    turn: LoopTurn = field(default_factory=LoopTurn)
    _looked_up: dict[int, dict[str, Told]] = field(default_factory=dict)
    _earnings: dict[int, Earning | None] = field(default_factory=dict)
    _basket: int = field(init=False)

    def __post_init__(self) -> None:
        self._basket = sum_of(self.ask.items)

    def question(self, place: int) -> Question:
        item = self.ask.items[place]
        earns = earned(item.line, self._earning(place))
        looked_up = {**self.known, **self._looked_up[place]} if place in self._looked_up else self.known
        return Question(item, self._basket, earns or 0, looked_up)

    async def look_up(
        self, wanted: Mapping[int, Iterable[Side]], facts: FactRegistry[OfferSubject], *, within_s: float
    ) -> None:
        """Asks each origin once for all items. What cannot be told now is not asked for again."""
        wishes: dict[Origin, list[tuple[int, Side]]] = {}
        for place, sides in wanted.items():
            for side in sides:
                assert isinstance(side.place, Origin)  # noqa: S101  # nothing else is looked up
                wishes.setdefault(side.place, []).append((place, side))
        subjects = {place: self._subject(self.ask.items[place]) for place in wanted}
        not_now = set(self.asker.not_now)
        for origin, some in wishes.items():
            found: Iterable[FoundValue] = [NOT_NOW] * len(some)
            try:
                async with asyncio.timeout(within_s):
                    found = await facts.load(origin, [(subjects[place], side) for place, side in some])
            except (Unavailable, TimeoutError):
                pass
            for (place, side), value in zip(some, found, strict=True):
                if value is NOT_NOW:
                    not_now.add(side.text)
                else:
                    self._looked_up.setdefault(place, {})[side.text] = value
        self.asker = self.asker._replace(not_now=not_now)

    def shown(self, place: int, found: Found, pays: int) -> Shown:
        """An offer of the item at this place, whose line costs so much with it."""
        earns = earned(pays, self._earning(place)) if self.tier is not None else None
        return Shown(found.offer, found.saves, pays, None if earns is None else earns + found.points, found.points)

    def reading(self, *, is_uncertain: bool, is_exact: bool = True) -> Reading:
        is_degraded = self.is_degraded or is_uncertain
        (_DEGRADED if is_degraded else _WHOLE).inc()
        return Reading(is_degraded, is_exact, self.as_of, self.tier)

    def _earning(self, place: int) -> Earning | None:
        if place not in self._earnings:
            item, tier = self.ask.items[place], self.tier or BASE_TIER
            self._earnings[place] = self.purchases.earning(item, self.ask.card, tier)
        return self._earnings[place]

    def _subject(self, item: Item) -> OfferSubject:
        asker = self.asker
        facts = Event(*_ASKED, item.id, asker.member_id, asker.country, asker.at, item.variables)
        return OfferSubject(facts, self.ask.card.card.zone)
