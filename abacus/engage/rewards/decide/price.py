"""Whether a member may have a reward, and at which price. Pure."""

from collections.abc import Collection, Iterator
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from abacus.documents.decide.heading import runs_at
from abacus.engage.asking.types import Standing
from abacus.engage.rewards.decide.reward import Reward


class Lock(StrEnum):
    """Why a member cannot have a reward; each is told."""

    CLOSED = "closed"  # paused, over, not begun, or not at this hour
    COUNTRY = "country"  # the member's account is one of another country
    AUDIENCE = "audience"  # its rule does not hold for the member
    POINTS = "points"
    STOCK = "stock"
    DAY = "day"  # nothing is left for today
    MEMBER = "member"  # the member has had its share
    MEMBER_DAY = "member_day"
    CODES = "codes"  # the pool is dry
    INVITED = "invited"  # the member is invited to the offer already
    HOLD = "hold"  # the points were let go before they could be taken


class Quote(NamedTuple):
    """What so many pieces cost: points, and money where the member pays a part of it."""

    points: int
    money: Decimal = Decimal(0)


class Locked(Exception):
    """The member cannot have it; the detail is for the caller."""

    def __init__(self, lock: Lock, detail: str) -> None:
        super().__init__(f"{lock}: {detail}")
        self.lock = lock
        self.detail = detail


def piece_price(reward: Reward, tier: str, segments: Collection[str]) -> int:
    """The lowest price that holds for the member."""
    price = reward.price
    own = [points for name, points in price.segments.items() if name in segments]
    return min((price.points, price.tiers.get(tier, price.points), *own))


def quote(reward: Reward, piece: int, quantity: int, points: int | None) -> Quote:
    """With `points`, the member pays no more points than that, and the rest in money. Raises `Locked` where the reward
    does not allow that.
    """
    whole = piece * quantity
    if points is None or points >= whole:
        return Quote(whole)
    money = reward.price.money
    if money is None:
        raise Locked(Lock.POINTS, f"{points} points; {reward.name} costs {whole} and takes no money")
    if points < money.least_points * quantity:
        raise Locked(Lock.POINTS, f"{points} points; at least {money.least_points * quantity} are paid in points")
    return Quote(points, (whole - points) * money.point_pays)


def closed(reward: Reward, standing: Standing, now: datetime) -> Iterator[Locked]:
    """Why nobody can have it now, or nobody with points of that country."""
    if not runs_at(reward, now):
        yield Locked(Lock.CLOSED, f"{reward.name} is not there at this time")
    if standing.country != reward.country:
        yield Locked(
            Lock.COUNTRY, f"{reward.name} is a reward of {reward.country}, the account one of {standing.country}"
        )


def check_open(reward: Reward, standing: Standing, now: datetime) -> None:
    """Raises `Locked`."""
    for lock in closed(reward, standing, now):
        raise lock


def missing_points(points: int, standing: Standing) -> Iterator[Locked]:
    """Why it cannot be paid."""
    if points > standing.available:
        yield Locked(Lock.POINTS, f"{points - standing.available} points are missing")


def check_audience(reward: Reward, *, holds: bool) -> None:
    """Raises `Locked`."""
    if not holds:
        raise Locked(Lock.AUDIENCE, f"{reward.name} is for other members")


def check_one(reward: Reward, quantity: int) -> None:
    """Raises `Locked`."""
    if quantity > 1:
        raise Locked(Lock.MEMBER, f"{reward.name} is an invitation, which is given once; ask for one piece")
