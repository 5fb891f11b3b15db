"""Reservations and redemptions of offers, and the ids by which callers name them. Pure values."""

import hashlib
from datetime import date, datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.errors import Refused
from abacus.engage.limits.types import Amounts, Scope
from abacus.engage.offers.decide.offer import Offer

MOST_TOGETHER: Final = 20  # offers in one request
_CUSTOM: Final = 8  # the version of a UUID with bits of one's own
_OVERALL, _DAY = 1, 2  # bits of `pots`


class ReservationStatus(StrEnum):
    """Where a reservation stands."""

    HELD = "held"
    REDEEMED = "redeemed"
    RELEASED = "released"
    EXPIRED = "expired"
    REFUSED = "refused"  # another reservation has its code
    ROLLED_BACK = "rolled_back"  # it was redeemed, and all of it was taken back


TAKES: Final = (ReservationStatus.HELD, ReservationStatus.REDEEMED)  # takes of the limits


class Gain(NamedTuple):
    """What an offer gives for a basket: money off, in millionths, or points."""

    currency: str
    saves: int = 0
    points: int = 0


class Wish(NamedTuple):
    """An offer that a caller wants to hold for a member. `items` is the basket as JSON."""

    offer: Offer
    member_id: str
    caller: str
    key: str
    fingerprint: str
    items: str
    gain: Gain
    at: datetime
    until: datetime

    @property
    def amounts(self) -> Amounts:
        return amounts_of(self.offer, self.gain)

    @property
    def day(self) -> date:
        return self.at.astimezone(self.offer.zone).date()


class Reservation(NamedTuple):
    """A row of `offer_reservation`. `points` and `cost` are what it takes of the limits now."""

    key: str
    member_id: str
    reservation_id: UUID
    offer: str
    version: int
    country: str
    caller: str
    fingerprint: str
    items: str
    currency: str
    saves: int
    points: int
    cost: int
    day: date
    pots: int
    reserved_at: datetime
    until: datetime
    status: str

    @property
    def amounts(self) -> Amounts:
        return Amounts(1, self.points, self.cost)

    def open_at(self, now: datetime) -> bool:
        return self.status == ReservationStatus.HELD and now < self.until


class Redemption(NamedTuple):
    """A row of `offer_redemption`, with what was rolled back of it."""

    member_id: str
    redemption_id: UUID
    reservation_key: str
    offer: str
    version: int
    country: str
    caller: str
    items: str
    currency: str
    saves: int
    points: int
    redeemed_at: datetime
    saves_back: int = 0
    points_back: int = 0


class LimitReached(Refused):
    """A limit of the offer stands against it."""

    def __init__(self, offer: str, scope: Scope, what: str) -> None:
        super().__init__(f"{offer}: its limit {scope}.{what} is reached")
        self.offer = offer
        self.scope = scope
        self.what = what

    @property
    def of_all(self) -> bool:
        """Whether all members share it: others may give back what is missing."""
        return self.scope in {Scope.OVERALL, Scope.DAY}


class OtherFacts(Refused):
    """The key was used for another request."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} was used for another request")


class GainChanged(Refused):
    """The basket that is paid saves something else than was reserved."""

    def __init__(self, reserved: Gain, now: Gain) -> None:
        super().__init__("what the offer gives has changed")
        self.reserved = reserved
        self.now = now


class Ended(Refused):
    """The reservation is not held any more."""

    def __init__(self, status: ReservationStatus) -> None:
        super().__init__(f"the reservation is {status}")
        self.status = status


def amounts_of(offer: Offer, gain: Gain) -> Amounts:
    """What a use takes of the offer's limits. Points cost what the limits say."""
    return Amounts(1, gain.points, gain.saves + offer.limits.cost_of(gain.points))


def pots_bits(offer: Offer) -> int:
    """The pots of all members that a use of this version takes from."""
    limits = offer.limits
    return (0 if limits.overall.open else _OVERALL) | (0 if limits.day.open else _DAY)


def periods_of(pots: int, day: date) -> list[str]:
    """The periods of these pots."""
    return [period for bit, period in ((_OVERALL, ""), (_DAY, day.isoformat())) if pots & bit]


def reservation_id(key: str, slice_number: int) -> UUID:
    """The id follows from the key, and its first byte is the slice of the member: so it is found where it lies."""
    return _placed(f"reservation:{key}".encode(), slice_number)


def redemption_id(of: UUID) -> UUID:
    """The id of the only redemption of a reservation."""
    return _placed(b"redemption:" + of.bytes, of.bytes[0])


def slice_of_id(id_: UUID) -> int:
    """The slice in which the reservation or the redemption lies, if it is one of ours."""
    return id_.bytes[0]


def _placed(text: bytes, slice_number: int) -> UUID:
    digest = bytearray(hashlib.sha256(text).digest()[:16])
    digest[0] = slice_number
    digest[6] = digest[6] & 0x0F | _CUSTOM << 4
    digest[8] = digest[8] & 0x3F | 0x80
    return UUID(bytes=bytes(digest))
