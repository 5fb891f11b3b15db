"""The kinds of explanations, one type for each. Pure values; `text` writes and reads them.

The fields are the text's, in the text's order. A field with a default is left out of the text where it is `None`. The
forms are version 1's; version 0 has the same, but does not say its version. A field that an older form left out has its
default here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from abacus.core.points import Rounding
from abacus.pricing.decide.card import OnShortfall

VERSION: Final = 1

# An explanation in a message, carried as it is.
Document: TypeAlias = Annotated[
    dict[str, Any],
    Field(description="As explanation.v1.json says. One without `v` is of version 0: the same, but for `v`."),
]

FactorName: TypeAlias = Literal["vertical", "eppf", "cashless", "tier"]

# The name of a factor, which entry of the card it is, and its value.
Factor: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculated:
    """A card priced a transaction. `redemption` is the id of what was redeemed with it, which gives its points by
    itself; `transaction` is its key where the award has another: a partner's.
    """

    amount: str
    currency: str
    card: str
    factors: tuple[Factor, ...]
    product: str
    rounding: Rounding
    points: int
    redemption: str | None = None
    transaction: str | None = None

    def entry(self, factor: FactorName) -> str:
        """Which entry of the card a factor was: of the tier, say "gold". Raises `KeyError` where it is not listed."""
        entries: Mapping[str, str] = {name: entry for name, entry, _ in self.factors}
        return entries[factor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A card gives this many points for an event of this type."""

    fixed: str
    card: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """A partner named the points."""

    granted_by: str
    reason: str
    card: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFormula:
    """How a campaign's points follow from a transaction: a `multiple` of the points of the formula, in which some of
    the multipliers may be the campaign's own. The entry of such a multiplier is "campaign".
    """

    amount: str
    currency: str
    factors: tuple[Factor, ...]
    product: str
    rounding: Rounding
    multiple: str = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaigned:
    """A campaign awarded points for an event; `card` says in which program, and until when they are good.

    `count` says which event of the member it was, where that mattered. `conditions` were looked at in
    this order, each with the value that it had.
    """

    campaign: str
    event: str
    step: int
    count: int | None = None
    variant: str | None = None
    conditions: tuple[tuple[str, str], ...]
    card: str
    formula: CampaignFormula | None = None
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """An offer gave points when it was redeemed; `card` says in which program, and until when they are good.

    The `benefit` gives `figure` points, or that many times the points that the purchase `earned` by itself, of which
    the purchase itself brings the first; never more than `cap`.
    """

    offer: str
    redemption: str
    benefit: Literal["points_times", "points_plus"]
    figure: str
    cap: str | None = None
    earned: int | None = None
    card: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewarded:
    """A reward was delivered as points; `card` says in which program, and until when they are good."""

    reward: str
    redemption: str
    card: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Journeyed:
    """A journey awarded points at a node; `card` says in which program, and until when they are good.

    `visit`, `node` and `turn` are the numbers of the key; the arm is that of the last split before it.
    """

    journey: str
    visit: int
    node: int
    turn: int | None = None
    arm: str | None = None
    card: str
    formula: CampaignFormula | None = None
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversed:
    """An earlier transfer was taken back, or a part of it: `of` its key, `earned` its points, `due` how many of them
    this takes back.

    Of these, `own_lot` were in the transfer's own lot, `expired` had lapsed before, and `clipped` were not there and
    are let go. A refund says by its `amount` of `of_amount` how large the part is. Of a purchase that points and other
    money paid, it gives back this `money` too, and says what is left of both.
    """

    points: int
    of: str
    of_kind: str
    earned: int
    occurred_at: datetime
    card: str
    due: int
    amount: str | None = None
    currency: str | None = None
    of_amount: str | None = None
    reason: str | None = None
    own_lot: int
    expired: int
    on_shortfall: OnShortfall | None = None
    clipped: int
    approved_by: str | None = None
    money: str | None = None
    points_left: int | None = None
    money_left: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LapsedWhole:
    """All available points lapsed together. `lots_closed` and `lots_drawn` say where the account's lots stood, from
    which it can be worked out later how much of one of them lapsed. `pending` points had not vested, and stay.
    """

    balance: int
    held: int
    expired_on: date
    points: int
    lots_closed: int = 0
    lots_drawn: int = 0
    pending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LapsedByLots:
    """Lots lapsed, each on a day of its own: the number of each lot's transfer, and how many points of it. `pending`
    points had not vested, and stay.
    """

    balance: int
    held: int
    expired_on: date
    points: int
    lots: tuple[tuple[int, int], ...]
    pending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The member paid with points. `available` points are left to spend.

    Where it is said, they paid this `money` at a till, by the card that says what a point pays; of a `price`, if
    something else paid the rest.
    """

    points: int
    reason: str
    spent_by: str
    available: int
    money: str | None = None
    currency: str | None = None
    card: str | None = None
    price: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """Held points, or a part of them, were spent, and the rest is free. `held` is negative: it is held no more."""

    points: int
    hold: str
    held: int
    spent_by: str
    available: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangedOut:
    """Held points left for a partner's programme, which credited `theirs` of its own; of these points the member paid
    `fee` beside. `programme` is named with its version, `unit` is what the partner calls its points.
    """

    points: int
    fee: int
    hold: str
    held: int
    exchange: str
    programme: str
    partner: str
    theirs: int
    unit: str
    spent_by: str
    available: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangedIn:
    """Points came for `theirs` of a partner's own, which it took; `card` says in which program, and until when they are
    good.
    """

    exchange: str
    programme: str
    partner: str
    theirs: int
    unit: str
    card: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Points are held until a time, so that they are there when they are captured; without one, until they are settled
    by the source that placed the hold.
    """

    points: int
    hold: str
    held: int
    until: datetime | None = None
    reason: str
    held_by: str
    available: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A hold came to nothing. `held` is negative: it is held no more."""

    points: int
    hold: str
    held: int
    because: str
    available: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """Somebody added or took points, and answers for it. `on_behalf_of` is a name that a partner gave."""

    points: int
    reason: str
    by: str
    on_behalf_of: str | None = None
    approved_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A member brought a balance from another system."""

    points: int
    reason: str
    by: str
    imported_from: Annotated[str, Field(alias="import")]  # as it is called in the text; Python reserves the word


Earned: TypeAlias = Calculated | Fixed | Granted | Campaigned | Offered | Rewarded | Journeyed
Lapsed: TypeAlias = LapsedWhole | LapsedByLots
OfHold: TypeAlias = Held | Captured | ExchangedOut | Released
Explanation: TypeAlias = Earned | ExchangedIn | Reversed | Lapsed | Spent | OfHold | Adjusted | Imported

# The field that only this type has, or that it has before the types that come later here.
BY_FIELD: Final[Mapping[str, type[Explanation]]] = {
    "granted_by": Granted,
    "campaign": Campaigned,
    "offer": Offered,
    "reward": Rewarded,
    "journey": Journeyed,
    "fixed": Fixed,
    "factors": Calculated,
    "of": Reversed,
    "lots": LapsedByLots,
    "expired_on": LapsedWhole,
    "fee": ExchangedOut,
    "theirs": ExchangedIn,
    "held_by": Held,
    "because": Released,
    "hold": Captured,
    "spent_by": Spent,
    "import": Imported,
    "by": Adjusted,
}
