"""The answers about offers, as frozen values. Money is of the currency of the items."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ShownOffer:
    """An offer for an item: what it saves on the line, what the line costs with it, and the points of the purchase."""

    offer: str
    version: int
    saves: Decimal
    pays: Decimal
    until: datetime
    points: int | None


@dataclass(frozen=True, slots=True)
class RefusedOffer:
    """An offer that does not fit: which condition failed, and what it needs."""

    offer: str
    reason: str
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class ItemOffers:
    """The offers of an item, of which `best` is the first. `price` is that of the line before any of them."""

    id: str
    price: Decimal
    best: ShownOffer | None
    others: tuple[ShownOffer, ...]
    refused: tuple[RefusedOffer, ...] = ()


@dataclass(frozen=True, slots=True)
class Qualified:
    """The offers of some items; nothing is reserved. `degraded`: offers may be missing."""

    items: tuple[ItemOffers, ...]
    degraded: bool
    as_of: datetime | None = None
    exact: bool | None = None


@dataclass(frozen=True, slots=True)
class OfferedLine:
    """What an offer saves on a line."""

    id: str
    saves: Decimal
    pays: Decimal
    points: int | None


@dataclass(frozen=True, slots=True)
class ValidatedOffer:
    """What a named offer, or the offer of a code, saves in all and on which lines; or why it saves nothing."""

    offer: str | None = None
    code: str | None = None
    version: int | None = None
    saves: Decimal | None = None
    until: datetime | None = None
    items: tuple[OfferedLine, ...] = ()
    refused: RefusedOffer | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A use of an offer that is held for a member, and its money or points."""

    reservation_id: UUID
    offer: str
    version: int
    member_id: str
    status: str
    saves: Decimal
    points: int
    currency: str
    until: datetime
    replayed: bool = False  # it was made before, by an earlier call or an earlier try of this one


@dataclass(frozen=True, slots=True)
class OfferRedemption:
    """What a redeemed offer gave, and what of that was rolled back. A transaction names it by `redemption_id`."""

    redemption_id: UUID
    offer: str
    version: int
    member_id: str
    saves: Decimal
    points: int
    currency: str
    redeemed_at: datetime
    saves_rolled_back: Decimal
    points_rolled_back: int
    replayed: bool = False
