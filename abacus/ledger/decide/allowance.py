"""A partner's limits, and the points that it has awarded: checked where awards are posted. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from abacus.core.errors import AbacusError
from abacus.core.sources import partner_of
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits, MemberDay, Rejection, RejectionReason


class OverLimit(AbacusError):
    """The award, or the movement, would take its partner past a limit."""

    def __init__(self, reason: RejectionReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Elsewhere(NamedTuple):
    """The points of a partner's budgets that other slices of the ledger have awarded, or may award."""

    in_total: int
    that_day: int


class Allowance(NamedTuple):
    """A partner's limits, and the points that it has awarded: in all, and on the last day that had an award. A slice's
    allowance has the points awarded there; `elsewhere` has the others.
    """

    limits: Limits
    used: int
    day: date
    used_that_day: int
    elsewhere: Elsewhere | None = None

    def on(self, day: date) -> "Allowance":
        """The allowance on that day; a clock that lags behind another's does not bring a day back. Of a day that begins
        a slice may award nothing before it is handed some.
        """
        if day <= self.day:
            return self
        elsewhere = self.elsewhere and self.elsewhere._replace(that_day=self.limits.per_day or 0)
        return self._replace(day=day, used_that_day=0, elsewhere=elsewhere)

    @property
    def gone(self) -> int:
        """The points of the whole budget that may not be awarded here."""
        return self.used + (self.elsewhere.in_total if self.elsewhere else 0)

    @property
    def gone_that_day(self) -> int:
        return self.used_that_day + (self.elsewhere.that_day if self.elsewhere else 0)

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
        if limits.per_day is not None and self.gone_that_day + points > limits.per_day:
            raise OverLimit(
                RejectionReason.BUDGET_EXHAUSTED,
                f"{points} points; {max(0, limits.per_day - self.gone_that_day)} of the budget of"
                f" {limits.per_day} a day are left",
            )
        if limits.in_total is not None and self.gone + points > limits.in_total:
            raise OverLimit(
                RejectionReason.BUDGET_EXHAUSTED,
                f"{points} points; {max(0, limits.in_total - self.gone)} of the budget of {limits.in_total} are left",
            )


class LimitUse(NamedTuple):
    """The limits and their use, under lock, of the partners whose awards are in a batch. Partners in `whole` have at
    hand all that is left, whichever slice had it.
    """

    allowances: Mapping[str, Allowance]  # by partner; a partner that is missing is unknown
    member_days: Mapping[MemberDay, int]
    rejections: Mapping[str, Rejection]  # by key
    whole: Collection[str] = ()


NOBODY: Final = LimitUse({}, {}, {})


class Short(Exception):
    """A slice has too little in hand of these partners' budgets for the `wanted` points; other hands may have more."""

    def __init__(self, wanted: Mapping[str, int]) -> None:
        super().__init__(f"too little in hand: {', '.join(sorted(wanted))}")
        self.wanted = wanted


class BatchSpending:
    """The limits of a batch's partners while it is decided."""

    def __init__(self, standing: LimitUse, now: datetime) -> None:
        today = now.astimezone(UTC).date()
        self._now = now
        self._allowances = {partner_id: each.on(today) for partner_id, each in standing.allowances.items()}
        self._member_days = standing.member_days
        self._whole = standing.whole
        self._wanted = Counter[str]()
        self._short = set[str]()
        self.allowances: dict[str, Allowance] = {}  # the changed ones
        self.member_days: dict[MemberDay, int] = {}

    def check(self, partner_id: str, award: Award) -> Rejection | None:
        """The rejection of an award that meets a limit. `count` follows when the ledger takes the award."""
        allowance = self._allowances.get(partner_id)
        if allowance is None:
            return None
        try:
            self._after(partner_id, allowance, award.member_id, award.points)
        except OverLimit as over:
            return rejected(award, over.reason, over.detail, self._now)
        return None

    def count(self, partner_id: str, member_id: str, points: int) -> None:
        """Counts points that the partner gives the member. Raises `OverLimit`, and then has counted nothing."""
        allowance = self._allowances.get(partner_id)
        if allowance is None:
            return
        after = self._after(partner_id, allowance, member_id, points)
        self.allowances[partner_id] = self._allowances[partner_id] = after
        member_day = MemberDay(member_id, partner_id, allowance.day)
        self.member_days[member_day] = self._used(member_day) + points
        self._wanted[partner_id] += points

    def give_back(self, partner_id: str, member_id: str, points: int, day: date) -> None:
        """Points that the partner had awarded on that day are its own to award again."""
        allowance = self._allowances.get(partner_id)
        if allowance is None:
            return
        self.allowances[partner_id] = self._allowances[partner_id] = allowance.given_back(points, day)
        if day == allowance.day:
            member_day = MemberDay(member_id, partner_id, day)
            self.member_days[member_day] = max(0, self._used(member_day) - points)

    def in_hand(self) -> None:
        """Raises `Short` if anything was refused that another slice may have."""
        if self._short:
            raise Short({partner_id: self._wanted[partner_id] for partner_id in self._short})

    def _after(self, partner_id: str, allowance: Allowance, member_id: str, points: int) -> Allowance:
        try:
            return allowance.after(points, self._used(MemberDay(member_id, partner_id, allowance.day)))
        except OverLimit as over:
            is_part = allowance.elsewhere is not None and partner_id not in self._whole
            if is_part and over.reason is RejectionReason.BUDGET_EXHAUSTED:
                self._short.add(partner_id)
                self._wanted[partner_id] += points
            raise

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
