"""What a question needs so that a condition of an offer lets it through, in words. Pure."""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

from abacus.core.points import plain
from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.currencies import money_text
from abacus.engage.offers.decide.keys import keys_of_scope
from abacus.engage.offers.decide.offer import Audience, Offer
from abacus.engage.offers.decide.reason import Reason
from abacus.signals.rules.decide.document import rule_document
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Not, Operator, Rule

_MOST_NAMED: Final = 3  # places and regions

_SIGNS: Final[Mapping[Operator, str]] = {
    Operator.EQ: "is",
    Operator.NE: "is not",
    Operator.LT: "below",
    Operator.LTE: "at most",
    Operator.GT: "above",
    Operator.GTE: "at least",
    Operator.IN: "one of",
    Operator.BETWEEN: "between",
    Operator.CONTAINS: "contains",
    Operator.STARTS_WITH: "starts with",
    Operator.EXISTS: "is there",
}


def needs(reason: Reason, armed: Armed, asked: Asked) -> str:
    """What is needed where this condition failed."""
    return _NEEDS[reason](armed, asked)


def _price(armed: Armed, asked: Asked) -> str:
    terms = armed.terms
    if asked.price < terms.price_from:
        return f"a price of {_money(terms.price_from, asked)} or more"
    return f"a price below {_money(terms.price_below, asked)}"


def _quantity(armed: Armed, asked: Asked) -> str:
    terms = armed.terms
    if asked.pieces < terms.pieces_from:
        return f"take {terms.pieces_from - asked.pieces} more"
    return f"take at most {terms.pieces_below - 1}"


def _basket(armed: Armed, asked: Asked) -> str:
    return f"spend {_money(armed.terms.basket_from - asked.basket, asked)} more"


def _tier(armed: Armed, _: Asked) -> str:
    return f"{' or '.join(sorted(armed.terms.tiers or ()))} members only"


def _scope(armed: Armed, asked: Asked) -> str:
    excepted = sorted((armed.excepted or frozenset()) & set(asked.keys))
    if excepted:
        return f"not for {' '.join(excepted[0])}"
    scope = armed.offer.scope
    if scope.is_local and asked.is_in_scope(scope.anywhere()):
        named = sorted(keys_of_scope(scope))
        others = " and others" if len(named) > _MOST_NAMED else ""
        return f"only for {' or '.join(map(' '.join, named[:_MOST_NAMED]))}{others}"
    return "not for this item"


def _admission(armed: Armed, _: Asked) -> str:
    return "a code" if armed.offer.audience is Audience.CODE else "an invitation"


def _time(armed: Armed, asked: Asked) -> str:
    offer = armed.offer
    if asked.at < armed.starts:
        return f"from {_local(max(offer.starts_at, offer.approved_at), offer)} on"
    if asked.at >= armed.ends:
        return f"ended at {_local(offer.ends_at, offer)}"
    return "not on this day of the week, or not at this hour"


def _local(at: datetime, offer: Offer) -> str:
    return f"{at.astimezone(offer.zone):%Y-%m-%d %H:%M} ({offer.timezone})"


def _segment(armed: Armed, asked: Asked) -> str:
    missing = [each for each in armed.parts.segments if not asked.is_in(each)]
    return f"members of the segment {' and '.join(missing)} only"


def _rule(armed: Armed, asked: Asked) -> str:
    return " and ".join(map(rule_text, asked.failing(armed.parts.rest)))


_NEEDS: Final[Mapping[Reason, Callable[[Armed, Asked], str]]] = {
    Reason.PRICE: _price,
    Reason.QUANTITY: _quantity,
    Reason.BASKET: _basket,
    Reason.TIER: _tier,
    Reason.SCOPE: _scope,
    Reason.ADMISSION: _admission,
    Reason.CODE_USED: lambda _, __: "another code; this one is used",
    Reason.SPENT: lambda _, __: "the budget is used up",
    Reason.USED: lambda _, __: "the member's limit is reached",
    Reason.TIME: _time,
    Reason.SEGMENT: _segment,
    Reason.RULE: _rule,
    Reason.NOTHING: lambda _, __: "it saves nothing on this item",
}


def rule_text(rule: Rule) -> str:
    """A rule as a person reads it: var.city one of kl, sg."""
    match rule:
        case AllOf(conditions):
            return f"({' and '.join(map(rule_text, conditions))})"
        case AnyOf(conditions):
            return f"({' or '.join(map(rule_text, conditions))})"
        case Not(condition):
            return f"not {rule_text(condition)}"
        case Condition(operator, side):
            shown = "" if operator is Operator.EXISTS else f" {_constant(rule_document(rule)['rhs'])}"
            return f"{side.text} {_SIGNS[operator]}{shown}"


def _constant(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_constant, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(value) if isinstance(value, Decimal) else str(value)


def _money(units: int, asked: Asked) -> str:
    return f"{asked.item.currency} {money_text(units, asked.item.currency)}"
