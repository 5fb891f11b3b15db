"""How many points somebody may move without a second person. Pure values."""

from datetime import date
from typing import NamedTuple


class Sums(NamedTuple):
    """The most points that are moved alone altogether, by one actor and of one member, on a day in UTC and in 30 days;
    None where there is no limit.
    """

    actor_day: int | None = None
    actor_month: int | None = None
    member_day: int | None = None
    member_month: int | None = None


class Alone(NamedTuple):
    """The most points that are moved alone: in an adjustment, by reversals of one transfer altogether, and in sum."""

    adjustment: int
    reversal: int
    sums: Sums = Sums()


class Total(NamedTuple):
    """The points that an actor moved alone, or that were so moved of a member, on a day."""

    whose: str  # the actor's source, or `member:bob`
    day: date
    points: int
