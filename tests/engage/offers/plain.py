"""Offers looked at one by one, in fractions and in the words of the documents: what the index has to agree with."""

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from math import floor
from typing import NamedTuple

from abacus.engage.offers.decide.asker import Asker, ItemFacts, Question
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Audience, Benefit, BenefitKind, Gate, Offer, Scope, Values
from abacus.engage.offers.decide.reason import Reason
from abacus.signals.events.types import Value
from abacus.signals.facts.decide.catalog import SEGMENT, TIER
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.types import AllOf, Condition, Operator, Rule


class Standing(NamedTuple):
    """Where an offer stands, the lowest first, and what it gives."""

    rank: tuple[float, ...]
    number: int
    saves: int
    points: int


def fitting(
    offers: Iterable[tuple[Offer, Rule | None]], asker: Asker, question: Question, spent: Collection[int]
) -> list[Standing]:
    """All offers that fit, in order."""
    return sorted(
        standing(offer, asker, question)
        for offer, rule in offers
        if offer.country == asker.country
        and is_within(offer.scope, question.item)
        and not list(failures(offer, rule, asker, question, spent))
    )


def near_misses(
    offers: Iterable[tuple[Offer, Rule | None]], asker: Asker, question: Question, spent: Collection[int]
) -> list[tuple[int, Reason]]:
    """The offers for the item that one condition keeps from it, what gives most first."""
    near = []
    for offer, rule in offers:
        if offer.country == asker.country and is_within(offer.scope, question.item):
            failed = list(failures(offer, rule, asker, question, spent))
            if len(failed) == 1:
                near.append((standing(offer, asker, question), failed[0]))
    return [(each.number, reason) for each, reason in sorted(near)]


def standing(offer: Offer, asker: Asker, question: Question) -> Standing:
    given = given_by(offer, question)
    in_points = offer.benefit.kind.is_points
    worth = given if not in_points else rounded(given * (asker.point_value or Fraction(0)))
    rank = -worth, -given if not worth else 0, -offer.priority, offer.ends_at.timestamp(), offer.number
    return Standing(rank, offer.number, 0 if in_points else given, given if in_points else 0)


def given_by(offer: Offer, question: Question) -> int:
    kind, _, cap = offer.benefit
    given = _uncapped(offer.benefit, question)
    if cap is not None:
        given = min(given, Fraction(cap) * (1 if kind.is_points else 100))
    return max(0, rounded(given if kind.is_points else min(given, Fraction(question.item.line))))


def _uncapped(benefit: Benefit, question: Question) -> Fraction:
    line, price, pieces = Fraction(question.item.line), question.item.price, question.item.quantity
    figure = Fraction(benefit.figure)
    match benefit.kind:
        case BenefitKind.PERCENT:
            return line * figure / 100
        case BenefitKind.AMOUNT_OFF:
            return figure * 100
        case BenefitKind.FIXED_PRICE:
            return line - figure * 100 * pieces
        case BenefitKind.FREE_ITEM:
            return Fraction(price)
        case BenefitKind.POINTS_TIMES:
            return question.earns * (figure - 1)
        case BenefitKind.POINTS_PLUS:
            return figure


def rounded(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def is_within(scope: Scope, item: Item) -> bool:
    """Whether the offer is for the item, and for where it is bought, its exceptions aside."""
    values = scope.values
    somewhere = values.places or values.regions
    return (scope.everything or is_one_of(values, item)) and (not somewhere or is_there(values, item))


def is_one_of(values: Values, item: Item) -> bool:
    return (
        item.product in values.products
        or item.merchant in values.merchants
        or item.brand in values.brands
        or not values.categories.isdisjoint(item.categories)
    )


def is_there(values: Values, item: Item) -> bool:
    return item.place in values.places or not values.regions.isdisjoint(item.regions)


def failures(
    offer: Offer, rule: Rule | None, asker: Asker, question: Question, spent: Collection[int]
) -> Iterator[Reason]:
    """The conditions that fail; each part of a rule that has to hold is one."""
    item = question.item
    local = asker.at.astimezone(offer.zone)
    minute = local.hour * 60 + local.minute
    holds = {
        Reason.PRICE: _within(offer.price, Fraction(item.price, 100)),
        Reason.QUANTITY: _within(offer.quantity, Fraction(item.quantity)),
        Reason.BASKET: question.basket >= offer.basket_minimum * 100,
        Reason.SCOPE: not is_one_of(offer.scope.excepted, item) and not is_there(offer.scope.excepted, item),
        Reason.ADMISSION: offer.audience is Audience.PUBLIC or offer.number in asker.admitted,
        Reason.SPENT: offer.number not in spent,
        Reason.USED: asker.uses_left.get(offer.number, 1) > 0,
        Reason.NOTHING: given_by(offer, question) > 0,
    }
    yield from (reason for reason, each in holds.items() if not each)
    if not max(offer.starts_at, offer.approved_at) <= asker.at < offer.ends_at:
        yield Reason.TIME
    if (offer.weekdays and local.weekday() not in offer.weekdays) or (
        offer.hours and not any(begin <= minute < end for begin, end in offer.hours)
    ):
        yield Reason.TIME
    parts = rule.conditions if isinstance(rule, AllOf) else () if rule is None else (rule,)
    looked_up = question.looked_up.items()
    known: dict[str, Value] = {
        text: value for text, value in looked_up if value is not None and not isinstance(value, AtLeast)
    }
    known["segment.vip"] = bool(asker.in_segment("vip"))
    if asker.tier is not None:
        known[TIER] = asker.tier
    facts = ItemFacts(asker.country, item.variables)
    failing = [_kind(part) for part in parts if not compile_rule(part)(facts, known)]
    yield from {each for each in failing if each is not Reason.RULE}
    yield from (each for each in failing if each is Reason.RULE)


def _kind(part: Rule) -> Reason:
    """Tiers and segments that an offer wants in any case are one condition each."""
    match part:
        case Condition(operator=Operator.EQ | Operator.IN, lhs=side) if side.text == TIER:
            return Reason.TIER
        case Condition(lhs=side, rhs=True) if side.place == SEGMENT:
            return Reason.SEGMENT
    return Reason.RULE


def _within(gate: Gate, value: Fraction) -> bool:
    return gate.least <= value and (gate.below is None or value < gate.below)
