"""Who asks for offers, about which item, and what has to be looked up before there is an answer. Pure values."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from fractions import Fraction
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.engage.offers.decide.basket import Item
from abacus.signals.events.types import Value
from abacus.signals.rules.decide.plan import LookedUp
from abacus.signals.rules.decide.types import Side

_NOTHING: Final[LookedUp] = MappingProxyType({})
NOTHING_USED: Final[Mapping[int, int]] = MappingProxyType({})  # many uses are left of each offer


def in_none(_: str) -> bool | None:
    """No member is in no segment."""
    return False


class Asker(NamedTuple):
    """Who asks, in which country and when: all that is the same for each item of one request.

    `admitted` has the numbers of offers by invitation that the member is invited to, and of offers by code whose code
    was given. `uses_left` has the uses that the member's limits leave of offers, by number; an offer that is not there
    has many. `in_segment` tells whether the member is in a segment; None where that cannot be told now. `not_now` has
    the left sides, by text, whose values cannot be told now. A point is worth `point_value` smallest units of the
    currency; None where no value is published.
    """

    country: str
    at: datetime
    member_id: str | None = None
    tier: str | None = None
    admitted: frozenset[int] = frozenset()
    in_segment: Callable[[str], bool | None] = in_none
    uses_left: Mapping[int, int] = NOTHING_USED
    not_now: Collection[str] = frozenset()
    point_value: Fraction | None = None


class ItemFacts(NamedTuple):
    """The facts that a rule of an offer is about: the country, and the variables of the item."""

    country: str
    variables: Mapping[str, Value]


class Question(NamedTuple):
    """What is asked about one item. `basket` is the sum of all lines, and `earns` the points that the purchase of the
    line earns by the card. `looked_up` has the values that were looked up for this item, by the text of their left
    sides; None for a value that is not there.
    """

    item: Item
    basket: int
    earns: int = 0
    looked_up: LookedUp = _NOTHING


class Wanted(NamedTuple):
    """There is no answer before the values of these left sides are looked up. Sides of segments and the member's tier
    are never among them: the asker tells these.
    """

    sides: frozenset[Side]
