"""An offer: when it holds, for which items and members, and what it gives. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, Final, NamedTuple

from abacus.core.fields import EARLIEST
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.decide.version_words import Labels
from abacus.engage.limits.decide.limit_reader import LimitWords
from abacus.engage.limits.types import Limits, OwnerVersion

OWNER_KIND: Final = "offer"  # of the limits of offers
LIMIT_WORDS: Final = LimitWords("uses", "money")
POOL: Final = "pool"  # what a document says whose offer has single codes
CATEGORY_LEVELS: Final = 3
LABELS: Final = Labels("offer", NAME_PATTERN, "lunch_20")


class BenefitKind(StrEnum):
    """What is given. Money is taken off the line of an item: its price times its quantity."""

    PERCENT = "percent"  # of the line
    AMOUNT_OFF = "amount_off"  # once for the line
    FIXED_PRICE = "fixed_price"  # for each piece
    FREE_ITEM = "free_item"  # one piece
    POINTS_TIMES = "points_times"  # the points that the purchase earns by the card, that many times
    POINTS_PLUS = "points_plus"  # so many points besides

    @property
    def is_points(self) -> bool:
        return self is BenefitKind.POINTS_TIMES or self is BenefitKind.POINTS_PLUS


class Benefit(NamedTuple):
    """`figure` is the percentage, the amount, the price or the points; 0 for a free item. The `cap` is money, or
    points of a benefit in points.
    """

    kind: BenefitKind
    figure: Decimal = Decimal(0)
    cap: Decimal | None = None


class Values(NamedTuple):
    """Values by which items are named, and by which the places are named where they are bought. A category stands for
    all below it, too.
    """

    products: frozenset[str] = frozenset()
    merchants: frozenset[str] = frozenset()
    brands: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()


class Scope(NamedTuple):
    """The items that an offer is for: all, or those with one of the values of items; where places or regions are named,
    only those that are bought in one of these; never items with an excepted value.
    """

    everything: bool = False
    values: Values = Values()
    excepted: Values = Values()

    @property
    def is_local(self) -> bool:
        """Whether it is for some places or regions only."""
        return bool(self.values.places or self.values.regions)

    def anywhere(self) -> "Scope":
        """The same items, wherever they are bought."""
        return self._replace(values=self.values._replace(places=frozenset(), regions=frozenset()))


class Gate(NamedTuple):
    """From the least on, and below the other end where there is one."""

    least: Decimal = Decimal(0)
    below: Decimal | None = None


OPEN: Final = Gate()


class Audience(StrEnum):
    """Who may take an offer."""

    PUBLIC = "public"
    INVITATION = "invitation"  # members that were loaded
    CODE = "code"  # who knows a code


class Stacking(StrEnum):
    """Which offers an offer stands beside in one basket."""

    ALONE = "alone"
    GROUP = "group"  # beside offers of other groups
    ALWAYS = "always"


class Stack(NamedTuple):
    """`group` names the group of an offer that stands beside offers of other groups."""

    stacking: Stacking = Stacking.ALONE
    group: str | None = None


ALONE: Final = Stack()


class Payer(NamedTuple):
    """Who pays for the benefit, for the reports: a cost centre of the house, or a partner."""

    kind: str  # "cost_centre" or "partner"
    name: str


@dataclass(frozen=True)
class Offer(OwnerVersion):
    """An offer, which never changes once it was submitted: a change is another version. A draft that is nowhere yet
    has the version 0. All versions of an offer have one `number`; the lower goes first where all else is equal.

    Limits count uses as runs, and money in millionths. `when` is the document of a rule. `price` gates the price of one
    piece, `quantity` the pieces of the line, `basket_minimum` the sum of all lines.
    """

    name: str
    country: str
    timezone: str
    starts_at: datetime
    ends_at: datetime
    benefit: Benefit
    scope: Scope
    limits: Limits
    payer: Payer
    audience: Audience = Audience.PUBLIC
    code: str | None = None  # the one public code of an offer by code; None where there is a pool of single codes
    price: Gate = OPEN
    quantity: Gate = OPEN
    basket_minimum: Decimal = Decimal(0)
    when: Mapping[str, object] | None = None
    weekdays: frozenset[int] = frozenset()
    hours: tuple[tuple[int, int], ...] = ()
    stack: Stack = ALONE
    priority: int = 0
    about: str = ""
    currency: str = ""  # of the country's card
    version: int = 0
    number: int = 0
    approved_at: datetime = EARLIEST

    owner_kind: ClassVar[str] = OWNER_KIND
    __hash__ = OwnerVersion.__hash__

    @property
    def takes_single_code(self) -> bool:
        """Whether each use of it takes a code of its pool."""
        return self.audience is Audience.CODE and self.code is None

    @property
    def least_points(self) -> int:
        """No use needs points of a limit: awards of points are counted as they are given."""
        return 0
