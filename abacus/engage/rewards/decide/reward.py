"""A reward: what it is, what it costs in points, how it is delivered, and who may have it. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

from abacus.core.fields import EARLIEST
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.decide.term_version import TermVersion
from abacus.documents.decide.version_words import Labels
from abacus.engage.asking.decide.sides import RequestSides
from abacus.engage.limits.decide.limit_reader import LimitWords
from abacus.engage.limits.types import Limits
from abacus.engage.offers.decide.offer import Payer

OWNER_KIND: Final = "reward"  # of calls of fulfillers
LIMIT_WORDS: Final = LimitWords("uses")
SIDES: Final = RequestSides("reward", "a request for a reward")  # of rules
LABELS: Final = Labels("reward", NAME_PATTERN, "coffee")


class Texts(NamedTuple):
    """What members read, in one language."""

    title: str
    description: str = ""
    terms: str = ""


class Money(NamedTuple):
    """A part of the price may be paid in money: at least so many points, and so much for each point that is missing."""

    least_points: int
    point_pays: Decimal


class Price(NamedTuple):
    """Points for one piece. A member pays the lowest price that holds: of all, of its tier, of a segment."""

    points: int
    tiers: Mapping[str, int]
    segments: Mapping[str, int]
    money: Money | None = None


class FromPool(NamedTuple):
    """A code of a pool. With fewer free codes than `low` the house is told."""

    pool: str
    low: int


class ByWebhook(NamedTuple):
    """A fulfiller is called. The partner reports back, if one is named, and else people of the house; it is late after
    that time without a report.
    """

    webhook: str
    partner: str | None
    late_after: timedelta


class ByInvitation(NamedTuple):
    """The member is invited to an offer."""

    offer: str


class AsPoints(NamedTuple):
    """Each piece gives `points` of another program."""

    program: str
    points: int


Delivery: TypeAlias = FromPool | ByWebhook | ByInvitation | AsPoints


@dataclass(frozen=True)
class Reward(TermVersion):
    """A reward, which never changes once it was submitted: a change is another version. A draft that is nowhere yet has
    the version 0. Limits count pieces as runs; the limit over all is the stock. `when` is the document of a rule.
    """

    name: str
    country: str
    timezone: str
    starts_at: datetime
    ends_at: datetime
    texts: Mapping[str, Texts]  # by language
    price: Price
    delivery: Delivery
    limits: Limits
    picture: str | None = None
    when: Mapping[str, object] | None = None
    weekdays: frozenset[int] = frozenset()
    hours: tuple[tuple[int, int], ...] = ()
    about: str = ""
    payer: Payer | None = None
    version: int = 0
    approved_at: datetime = field(default=EARLIEST)

    __hash__ = TermVersion.__hash__

    def numbered(self, version: int) -> "Reward":
        return replace(self, version=version)
