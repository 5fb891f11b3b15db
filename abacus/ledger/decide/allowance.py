"""A partner's limits, and the points that it has awarded: checked where awards are posted. Pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from abacus.core.errors import AbacusError
from abacus.core.sources import partner_of
from abacus.ledger.types.award import Award
from abacus.ledger.types.limits import Limits, MemberDay, Rejection, RejectionReason


class OverLimit(AbacusError):
    """The award, or the movement, would take its partner past a limit."""

    def __init__(self, reason: RejectionReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Allowance(NamedTuple):
    """A partner's limits, and the points that it has awarded: in all, and on the last day that had an award."""

    limits: Limits
    used: int
    day: date
    used_that_day: int

    def on(self, day: date) -> "Allowance":
        """The allowance on that day; a clock that lags behind another's does not bring a day back."""
        return self if day <= self.day else self._replace(day=day, used_that_day=0)

    def after(self, points: int, member_used: int) -> "Allowance":
        """The allowance after one more award, to a member who got `member_used` from this partner today.

        Raises `OverLimit`.
        """
        self.check(points, member_used)
        return self._replace(used=self.used + points, used_that_day=self.used_that_day + points)

    def given_back(self, points: int, day: date) -> "Allowance":
        """The allowance after points of that day's awards were taken back; a day that is over stays as it was."""
        same_day = points if day == self.day else 0
        return self._replace(used=max(0, self.used - points), used_that_day=max(0, self.used_that_day - same_day))

    def check(self, points: int, member_used: int) -> None:
        """Raises `OverLimit` where one more award is too much."""
        limits = self.limits
        if limits.per_award is not None and points > limits.per_award:
            raise OverLimit(RejectionReason.AWARD_CAP, f"{points} points; one award may carry {limits.per_award}")
        if limits.per_member_day is not None and member_used + points > limits.per_member_day:
            raise OverLimit(
                RejectionReason.MEMBER_DAY_CAP,
                f"{points} points after {member_used} today; a member may get {limits.per_member_day} a day",
            )
        if limits.per_day is not None and self.used_that_day + points > limits.per_day:
            raise OverLimit(
                RejectionReason.BUDGET_EXHAUSTED,
                f"{points} points; {max(0, limits.per_day - self.used_that_day)} of the budget of"
                f" {limits.per_day} a day are left",
            )
        if limits.in_total is not None and self.used + points > limits.in_total:
            raise OverLimit(
                RejectionReason.BUDGET_EXHAUSTED,
                f"{points} points; {max(0, limits.in_total - self.used)} of the budget of {limits.in_total} are left",
            )


class Standing(NamedTuple):
    """The limits and their use, under lock, of the partners whose awards are in a batch."""

    allowances: Mapping[str, Allowance]  # by partner; a partner that is missing is unknown
    member_days: Mapping[MemberDay, int]
    rejections: Mapping[str, Rejection]  # by key


NOBODY: Final = Standing({}, {}, {})


class Spending:
    """The limits of a batch's partners while it is decided."""

    def __init__(self, standing: Standing, now: datetime) -> None:
        today = now.astimezone(UTC).date()
        self._now = now
        self._allowances = {partner_id: each.on(today) for partner_id, each in standing.allowances.items()}
        self._member_days = standing.member_days
        self.allowances: dict[str, Allowance] = {}  # the changed ones
        self.member_days: dict[MemberDay, int] = {}

    def check(self, partner_id: str, award: Award) -> Rejection | None:
        """The rejection of an award that meets a limit. `spend` follows when the ledger takes the award."""
        allowance = self._allowances.get(partner_id)
        if allowance is None:
            return None
        try:
            allowance.after(award.points, self._used(MemberDay(award.member_id, partner_id, allowance.day)))
        except OverLimit as over:
            return rejected(award, over.reason, over.detail, self._now)
        return None

    def spend(self, partner_id: str, award: Award) -> None:
        self.count(partner_id, award.member_id, award.points)

    def count(self, partner_id: str, member_id: str, points: int) -> None:
        """Counts points that the partner gives the member. Raises `OverLimit`, and then has counted nothing."""
        allowance = self._allowances.get(partner_id)
        if allowance is None:
            return
        member_day = MemberDay(member_id, partner_id, allowance.day)
        used = self._used(member_day)
        self.allowances[partner_id] = self._allowances[partner_id] = allowance.after(points, used)
        self.member_days[member_day] = used + points

    def give_back(self, partner_id: str, member_id: str, points: int, day: date) -> None:
        """Points that the partner had awarded on that day are its own to award again."""
        allowance = self._allowances.get(partner_id)
        if allowance is None:
            return
        self.allowances[partner_id] = self._allowances[partner_id] = allowance.given_back(points, day)
        if day == allowance.day:
            member_day = MemberDay(member_id, partner_id, day)
            self.member_days[member_day] = max(0, self._used(member_day) - points)

    def _used(self, member_day: MemberDay) -> int:
        return self.member_days.get(member_day, self._member_days.get(member_day, 0))


def rejected(award: Award, reason: RejectionReason, detail: str, now: datetime) -> Rejection:
    return Rejection(
        key=award.key,
        member_id=award.member_id,
        program=award.program,
        points=award.points,
        fingerprint=award.fingerprint,
        reason=reason,
        detail=detail,
        rejected_at=now,
    )


def partners_of(awards: Iterable[Award]) -> dict[str, list[Award]]:
    """The awards of partners, by partner, in the order in which their allowances are locked."""
    by_partner: dict[str, list[Award]] = {}
    for award in awards:
        partner_id = partner_of(award.source)
        if partner_id is not None:
            by_partner.setdefault(partner_id, []).append(award)
    return dict(sorted(by_partner.items()))
