"""What becomes of reservations: redeemed with the basket that is paid, or released; and of a redemption that is rolled
back, in whole or in part. Pure.
"""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID
from zoneinfo import ZoneInfo

from abacus.core.errors import Refused, absent
from abacus.engage.actions.types import PlannedAction
from abacus.engage.limits.types import NOTHING, Amounts
from abacus.engage.offers.decide.grant import Taken
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.outcomes import Happened, Outcome, happened
from abacus.engage.offers.decide.reservation import (
    Ended,
    Gain,
    GainChanged,
    Redemption,
    Reservation,
    ReservationStatus,
    amounts_of,
    redemption_id,
)
from abacus.pricing.decide.card import PublishedCard

_LET_GO: Final = (ReservationStatus.RELEASED, ReservationStatus.EXPIRED, ReservationStatus.REFUSED)


class Redeeming(NamedTuple):
    """A reservation is redeemed: by the version of the offer that was reserved, for the basket that is paid. `zone` is
    the country's. `accepted` is what the caller knows that it gains: where none is named, what was reserved. `award` is
    there where it gives points.
    """

    reservation_id: UUID
    caller: str
    offer: Offer
    reserved_at: datetime
    zone: ZoneInfo
    items: str
    gain: Gain
    accepted: Gain | None = None
    award: PlannedAction | None = None


class Releasing(NamedTuple):
    """A reservation is let go. It is `refused` where it took no code: another reservation has that."""

    reservation_id: UUID
    caller: str
    refused: bool = False


Settling: TypeAlias = Redeeming | Releasing


class Settlement(NamedTuple):
    """What comes of it: the reservation and, where it was redeemed, its redemption. `more` is what it takes beyond what
    was reserved, `less` what it gives back. It was redeemed `on` a day by the country's clock. `replayed` where all
    that was so before.
    """

    reservation: Reservation
    redemption: Redemption | None = None
    more: Taken | None = None
    less: Amounts = NOTHING
    award: PlannedAction | None = None
    on: date | None = None
    replayed: bool = False


class RollingBack(NamedTuple):
    """A redemption is rolled back: as far as it is not yet, or so much of what it saved, in millionths. Points are
    taken back by the `card` that is in force.
    """

    redemption_id: UUID
    caller: str
    key: str
    saves: int | None
    card: PublishedCard


class TooMuch(Refused):
    """More is to be rolled back than is left."""

    def __init__(self, left: int) -> None:
        super().__init__("less of it is left")
        self.left = left


def settled(settling: Settling, found: Reservation | None, redemption: Redemption | None, now: datetime) -> Settlement:
    """`redemption` is that of the reservation, if there is one. Raises `Refused`: nothing changes then."""
    if found is None or found.caller != settling.caller:
        raise absent("reservation", settling.reservation_id)
    if isinstance(settling, Releasing):
        return _released(found, ReservationStatus.REFUSED if settling.refused else ReservationStatus.RELEASED)
    if redemption is not None and redemption.items == settling.items:
        return Settlement(found, redemption, replayed=True)
    if not found.open_at(now):
        raise Ended(
            ReservationStatus.EXPIRED if found.status == ReservationStatus.HELD else ReservationStatus(found.status)
        )
    return _redeemed(settling, found, now)


def _released(found: Reservation, status: ReservationStatus) -> Settlement:
    if found.status in _LET_GO:
        return Settlement(found, replayed=True)
    if found.status != ReservationStatus.HELD:
        raise Ended(ReservationStatus(found.status))
    return Settlement(found._replace(status=status), less=found.amounts)


def _redeemed(settling: Redeeming, found: Reservation, now: datetime) -> Settlement:
    reserved = Gain(found.currency, found.saves, found.points)
    if settling.gain != (settling.accepted or reserved):
        raise GainChanged(reserved, settling.gain)
    offer, gain = settling.offer, settling.gain
    change = amounts_of(offer, gain).minus(found.amounts)
    more = change.at_least(NOTHING)
    taken = Taken(offer, found.member_id, found.reserved_at, found.day, more) if more != NOTHING else None
    after = found._replace(
        points=gain.points, saves=gain.saves, cost=found.cost + change.cost, status=ReservationStatus.REDEEMED
    )
    redemption = Redemption(
        member_id=found.member_id,
        redemption_id=redemption_id(found.reservation_id),
        reservation_key=found.key,
        offer=found.offer,
        version=found.version,
        country=found.country,
        caller=found.caller,
        items=settling.items,
        currency=gain.currency,
        saves=gain.saves,
        points=gain.points,
        redeemed_at=now,
    )
    on = now.astimezone(settling.zone).date()
    return Settlement(after, redemption, taken, more.minus(change), settling.award, on)


def what_happened(before: Reservation, settlement: Settlement) -> Iterator[Happened]:
    """As it is added up."""
    after, on = settlement.reservation, settlement.on
    if settlement.redemption is None:
        yield happened(before, Outcome.RELEASED)
        return
    changes = (after.points - before.points, after.saves - before.saves, after.cost - before.cost)
    if any(changes):
        yield Happened(after.offer, after.version, after.day, Outcome.CHANGED, on or after.day, 0, *changes)
    yield happened(after, Outcome.REDEEMED, on)


class RolledBack(NamedTuple):
    """A redemption after something of it was rolled back, its reservation, and what goes back to the limits."""

    redemption: Redemption
    reservation: Reservation
    saves: int
    less: Amounts


def is_over(order: RollingBack, found: Reservation) -> bool:
    """Whether all of it was rolled back before, and nothing else is wanted."""
    return order.saves is None and found.status == ReservationStatus.ROLLED_BACK


def rolled_back(order: RollingBack, redemption: Redemption, found: Reservation) -> RolledBack:
    """The use is free again when all is rolled back; the money, and the points, as far as they are. Raises
    `TooMuch`.
    """
    left = redemption.saves - redemption.saves_back
    back = left if order.saves is None else order.saves
    if back > left:
        raise TooMuch(left)
    whole = order.saves is None or (back == left and not redemption.points)
    points = redemption.points - redemption.points_back if whole else 0
    cost = found.cost if whole else back
    after = found._replace(points=found.points - points, cost=found.cost - cost)
    if whole:
        after = after._replace(status=ReservationStatus.ROLLED_BACK)
    return RolledBack(
        redemption._replace(saves_back=redemption.saves_back + back, points_back=redemption.points_back + points),
        after,
        back,
        Amounts(int(whole), points, cost),
    )


def what_was_rolled_back(done: RolledBack, on: date) -> Happened:
    """As it is added up, on a day by the country's clock."""
    of, less = done.reservation, done.less
    figures = (less.runs, less.points, done.saves, less.cost)
    return Happened(of.offer, of.version, of.day, Outcome.ROLLED_BACK, on, *figures)
