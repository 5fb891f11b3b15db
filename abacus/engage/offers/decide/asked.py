"""A question under way: its numbers at hand, and what its answer still needs."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from abacus.engage.offers.decide.asker import Asker, ItemFacts, Question
from abacus.engage.offers.decide.keys import keys_of
from abacus.engage.offers.decide.offer import Scope
from abacus.engage.offers.decide.rule_parts import plan_of
from abacus.engage.offers.decide.saving import Formula, half_up
from abacus.signals.events.types import Value
from abacus.signals.facts.decide.catalog import SEGMENT, TIER
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import Rule, Side

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = 60_000_000  # microseconds


def micros(at: datetime) -> int:
    """The moment in microseconds, so that it is compared as a number."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


@lru_cache  # one request asks for many items at one moment
def _asked_at(at: datetime) -> int:
    return micros(at)


@lru_cache  # all who ask within a minute
def _local(minutes: int, zone: ZoneInfo) -> tuple[int, int]:
    at = (_EPOCH + timedelta(minutes=minutes)).astimezone(zone)
    return at.weekday(), at.hour * 60 + at.minute


class Asked:
    """`wanted` has left sides that have to be looked up first. `is_uncertain` says that an offer was left out because
    a value cannot be told now. `spent` has the numbers of offers whose budget is gone.
    """

    __slots__ = (
        "_facts",
        "_looked_up",
        "asker",
        "at",
        "basket",
        "is_uncertain",
        "item",
        "keys",
        "line",
        "pieces",
        "price",
        "question",
        "spent",
        "tier",
        "wanted",
    )

    def __init__(self, asker: Asker, question: Question, spent: Collection[int]) -> None:
        item = question.item
        self.asker = asker
        self.question = question
        self.item = item
        self.keys = keys_of(item)
        self.at = _asked_at(asker.at)
        self.price = item.price
        self.pieces = item.quantity
        self.line = item.price * item.quantity
        self.basket = question.basket
        self.tier = asker.tier
        self.spent = spent
        self.wanted: set[Side] = set()
        self.is_uncertain = False
        self._facts: ItemFacts | None = None  # until a rule asks
        self._looked_up: dict[str, Value | AtLeast | None] | None = None  # until a rule asks

    def given(self, formula: Formula) -> int:
        """What a benefit gives: a share of the line, or of the points that it earns."""
        return formula.given(self.question.earns if formula.in_points else self.line, self.price, self.pieces)

    def rank_of(self, given: int, *, in_points: bool) -> tuple[int, int]:
        """Where a benefit stands, the lowest first: by its worth in money. Points that are worth nothing, because no
        value is published, stand behind all money, the most first.
        """
        if not in_points:
            return -given, 0
        value = self.asker.point_value
        worth = half_up(given * value.numerator, value.denominator) if value is not None else 0
        return (-worth, 0) if worth else (0, -given)

    def is_in_scope(self, scope: Scope) -> bool:
        """Whether a scope has the item, its exceptions aside."""
        item, values = self.item, scope.values
        if scope.is_local and item.place not in values.places and values.regions.isdisjoint(item.regions):
            return False
        return (
            scope.everything
            or item.product in values.products
            or item.merchant in values.merchants
            or item.brand in values.brands
            or not values.categories.isdisjoint(item.categories)
        )

    def local(self, zone: ZoneInfo) -> tuple[int, int]:
        """The weekday, and the minute of the day, by the clock of the zone."""
        return _local(self.at // _MINUTE, zone)

    def has_tier(self, tiers: Collection[str]) -> bool:
        if TIER in self.asker.not_now:
            self.is_uncertain = True
            return False
        return self.tier in tiers

    def is_in(self, segment: str) -> bool:
        answer = self.asker.in_segment(segment)
        if answer is None:
            self.is_uncertain = True
        return answer is True

    def holds(self, plan: RulePlan) -> bool:
        """Whether a rule holds. Where that depends on a value that is not known yet, the value is wanted."""
        if self._looked_up is None or self._facts is None:
            self._looked_up = dict(self.question.looked_up)
            self._facts = ItemFacts(self.asker.country, self.item.variables)
        while True:
            try:
                decision = plan.decide(self._facts, self._looked_up)
            except (TypeError, AttributeError):  # the item has a variable of another type than the rule compares
                return False
            if decision.wanted is None:
                self.is_uncertain |= decision.is_open
                return decision.holds is True
            if not self._learns(decision.wanted, self._looked_up):
                return False

    def failing(self, parts: Iterable[Rule]) -> list[Rule]:
        """The parts of a rule that do not hold."""
        return [each for each in parts if not self.holds(plan_of((each,)))]

    def _learns(self, side: Side, looked_up: dict[str, Value | AtLeast | None]) -> bool:
        """Whether the value of a left side is known by itself."""
        if side.text in self.asker.not_now:
            self.is_uncertain = True
        elif side.text == TIER:
            looked_up[TIER] = self.tier
            return True
        elif side.place == SEGMENT:
            answer = self.asker.in_segment(side.name)
            if answer is None:
                self.is_uncertain = True
                return False
            looked_up[side.text] = answer
            return True
        else:
            self.wanted.add(side)
        return False
