"""Limits of partners and of persons who move points alone, and an award that met a limit or came a second time."""

from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple


class RejectionReason(StrEnum):
    """Which limit an award met: `BUDGET_EXHAUSTED` is the partner's, and the caps say that this award is too much. With
    `ALREADY_AWARDED` it met none: its transaction was awarded before, by whomever.
    """

    AWARD_CAP = "award-cap-exceeded"
    MEMBER_DAY_CAP = "member-day-cap-exceeded"
    BUDGET_EXHAUSTED = "budget-exhausted"
    ALREADY_AWARDED = "already-awarded"


class Limits(NamedTuple):
    """How many points a partner may award; None where there is no limit. Days are days in UTC."""

    per_award: int | None = None
    per_member_day: int | None = None
    per_day: int | None = None
    in_total: int | None = None

    def allows_more_than(self, other: "Limits") -> bool:
        """Whether any limit is higher than there, or gone."""
        return any(
            theirs is not None and (mine is None or mine > theirs) for mine, theirs in zip(self, other, strict=True)
        )


class MemberDay(NamedTuple):
    """A member, a partner and a day: the points given there count against the limit of a day."""

    member_id: str
    partner_id: str
    day: date


class Rejection(NamedTuple):
    """An award of a partner that is not posted, for a reason. It stands for its key for ever, as a claim does."""

    key: str
    member_id: str
    program: str
    points: int
    fingerprint: str
    reason: RejectionReason
    detail: str
    rejected_at: datetime


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
