"""What is asked about offers, and what is answered. Pure values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.refusal import Refusal
from abacus.engage.offers.decide.single_code import NO_CODES, SingleCode
from abacus.pricing.decide.card import PublishedCard


class Scenario(StrEnum):
    """Which offers of the items are wanted."""

    BEST = "best"  # the best of each item, and the next best
    ALL = "all"  # all of each item
    BASKET = "basket"  # the combination that saves most on all items together


class Ask(NamedTuple):
    """A question about items, for a member or for anybody, by the card that is in force in the country. `codes` admit
    to offers by code; `singles` has for each of them the pools that have it. A question that `takes` leaves the
    member's limits to the taking, which counts exactly.
    """

    card: PublishedCard
    items: Sequence[Item]
    scenario: Scenario = Scenario.BEST
    member_id: str | None = None
    codes: Sequence[str] = ()
    explains: bool = False
    takes: bool = False
    singles: Mapping[str, Sequence[SingleCode]] = NO_CODES


class Shown(NamedTuple):
    """An offer of an item: what it saves on the line, what the line costs with it, and the points that the purchase
    earns with it, as far as that can be told; of these, the offer `gives` so many. Money is in the smallest units of
    the currency.
    """

    offer: Offer
    saves: int
    pays: int
    points: int | None
    gives: int = 0


class ItemAnswer(NamedTuple):
    """The offers of an item, the best one first, and offers that came close where these were asked for."""

    item: Item
    best: Shown | None
    others: Sequence[Shown] = ()
    refused: Sequence[Refusal] = ()


class Reading(NamedTuple):
    """How good an answer is. It is degraded where offers may be missing, because a part of what they ask could not be
    read, and exact where no other combination saves more. The member is known as of `member_as_of`; the tier is None
    where it cannot be told.
    """

    is_degraded: bool
    is_exact: bool = True
    member_as_of: datetime | None = None
    tier: str | None = None


class Answer(NamedTuple):
    """The offers of the items, in the order of the items."""

    items: Sequence[ItemAnswer]
    reading: Reading


class Counted(NamedTuple):
    """The best offers of an item in order, and how many there are in all."""

    best: Sequence[Shown]
    in_all: int
    reading: Reading


class Validated(NamedTuple):
    """An offer that was named, or whose code was: the lines that it fits, with their places in the basket, or why it
    fits none. The offer is None where no such offer is in force in the country.
    """

    named: str
    is_code: bool
    offer: Offer | None
    fits: Sequence[tuple[int, Shown]] = ()
    refused: Refusal | None = None


class Verdicts(NamedTuple):
    """What each of the named offers would save by itself, in the order in which they were named, then the codes."""

    offers: Sequence[Validated]
    reading: Reading
