"""An offer that runs, made ready to be judged: its figures as whole numbers, its rule taken apart, its gates. Pure."""

from collections.abc import Callable, Iterator
from datetime import UTC
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.offers.decide.asked import Asked, micros
from abacus.engage.offers.decide.keys import Key, keys_of_scope, keys_of_values
from abacus.engage.offers.decide.offer import Audience, Offer, Stacking, Values
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.rule_parts import parts_of, plan_of
from abacus.engage.offers.decide.terms import terms_of
from abacus.signals.rules.decide.types import Rule

# Where an offer stands among offers that save as much: the lowest first.
Order: TypeAlias = tuple[int, int, int]
# Where an offer stands for an item, the lowest first: by its worth in money, by points without a worth, by its order.
Rank: TypeAlias = tuple[int, int, Order]

_NO_VALUES: Final = Values()
_SHARED: Final = 100_000


class Armed:
    """An offer with what it needs to be judged."""

    __slots__ = (
        "ends",
        "excepted",
        "gates",
        "is_narrowed",
        "keeps_hours",
        "number",
        "offer",
        "order",
        "parts",
        "plan",
        "starts",
        "terms",
    )

    def __init__(self, offer: Offer, rule: Rule | None) -> None:
        parts = parts_of(rule)
        self.offer = offer
        self.number = offer.number
        self.starts = micros(max(offer.starts_at, offer.approved_at).astimezone(UTC))
        self.ends = micros(offer.ends_at.astimezone(UTC))
        self.order: Order = (-offer.priority, self.ends, offer.number)
        self.terms = terms_of(offer, parts.tiers)
        self.parts = parts
        self.plan = plan_of(parts.rest) if parts.rest else None
        excepted = offer.scope.excepted
        self.excepted = _shared(frozenset(keys_of_values(excepted))) if excepted != _NO_VALUES else None
        # Whether keys of places or regions lead to it from items that it may not be for.
        self.is_narrowed = offer.scope.is_local and not offer.scope.everything
        self.keeps_hours = bool(offer.weekdays or offer.hours)
        limits = offer.limits
        self.gates = _gates(
            not (limits.overall.open and limits.day.open),
            not (limits.member.open and limits.member_day.open),
            self.is_apart,
            self.keeps_hours,
            self.is_narrowed,
            self.excepted is not None,
            bool(parts.segments),
            self.plan is not None,
        )

    @property
    def is_apart(self) -> bool:
        """Whether only some askers are admitted."""
        return self.offer.audience is not Audience.PUBLIC

    @property
    def stands_beside(self) -> bool:
        """Whether it stands beside others in a basket."""
        return self.offer.stack.stacking is not Stacking.ALONE

    @property
    def is_wide(self) -> bool:
        """Whether several keys lead to it."""
        scope = self.offer.scope
        if scope.is_local:
            return len(scope.values.places) + len(scope.values.regions) > 1
        return not scope.everything and sum(map(len, scope.values)) > 1

    def admits(self, asked: Asked) -> bool:
        """Whether the conditions hold that the offer does not share with others of its terms."""
        for gate in self.gates:  # noqa: SIM110  # `all` of a generator takes three times as long
            if not gate.opens(self, asked):
                return False
        return True

    def suits(self, asked: Asked) -> bool:
        """Whether of these conditions those hold that are the same for each item."""
        return all(gate.opens(self, asked) for gate in self.gates if not gate.of_item)

    def places(self) -> Iterator[Key]:
        """The keys under which the items are found that the offer is for."""
        return keys_of_scope(self.offer.scope)


class OfferGate(NamedTuple):
    """A condition of one offer; `of_item` where it depends on the item."""

    reason: Reason
    opens: Callable[[Armed, Asked], bool]
    of_item: bool = False


def _has_budget(armed: Armed, asked: Asked) -> bool:
    return not asked.spent or armed.number not in asked.spent


def _has_uses(armed: Armed, asked: Asked) -> bool:
    return asked.asker.uses_left.get(armed.number, 1) > 0


def _in_period(armed: Armed, asked: Asked) -> bool:
    return armed.starts <= asked.at < armed.ends


def _is_admitted(armed: Armed, asked: Asked) -> bool:
    return armed.number in asked.asker.admitted


def _in_hours(armed: Armed, asked: Asked) -> bool:
    offer = armed.offer
    weekday, minute = asked.local(offer.zone)
    if offer.weekdays and weekday not in offer.weekdays:
        return False
    return not offer.hours or any(begin <= minute < end for begin, end in offer.hours)


def _is_for_item(armed: Armed, asked: Asked) -> bool:
    return asked.is_in_scope(armed.offer.scope)


def _is_not_excepted(armed: Armed, asked: Asked) -> bool:
    return armed.excepted is None or armed.excepted.isdisjoint(asked.keys)


def _in_segments(armed: Armed, asked: Asked) -> bool:
    return all(map(asked.is_in, armed.parts.segments))


def _rule_holds(armed: Armed, asked: Asked) -> bool:
    return armed.plan is None or asked.holds(armed.plan)


_PERIOD: Final = OfferGate(Reason.TIME, _in_period)
_BUDGET: Final = OfferGate(Reason.SPENT, _has_budget)
_USES: Final = OfferGate(Reason.USED, _has_uses)
_ADMISSION: Final = OfferGate(Reason.ADMISSION, _is_admitted)
_HOURS: Final = OfferGate(Reason.TIME, _in_hours)
_NARROWED: Final = OfferGate(Reason.SCOPE, _is_for_item, of_item=True)
_EXCEPTED: Final = OfferGate(Reason.SCOPE, _is_not_excepted, of_item=True)
_SEGMENTS: Final = OfferGate(Reason.SEGMENT, _in_segments)
_RULE: Final = OfferGate(Reason.RULE, _rule_holds, of_item=True)


_GATES: Final = (_BUDGET, _USES, _ADMISSION, _HOURS, _NARROWED, _EXCEPTED, _SEGMENTS, _RULE)


@lru_cache
def _gates(*there: bool) -> tuple[OfferGate, ...]:
    """The conditions that an offer has by itself: the period, and those of the others that are there."""
    return (_PERIOD, *(gate for gate, is_there in zip(_GATES, there, strict=True) if is_there))


@lru_cache(maxsize=_SHARED)
def _shared(keys: frozenset[Key]) -> frozenset[Key]:
    return keys
