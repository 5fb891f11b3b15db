"""A plain model of a member's points: a list of lots, and every rule applied by hand.

It shares no decision with the product, so that the two can be held against each other.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Final

EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass
class ModelLot:
    """Points that came in together."""

    key: str
    points: int
    left: int
    good_until: date | None
    lapsed: int = 0


@dataclass
class ModelAward:
    """An award or a spend, and how much of it was taken back."""

    points: int
    amount: Decimal | None
    refunded: Decimal = Decimal(0)
    due: int = 0
    expired: int = 0


@dataclass
class Model:
    """One account. Its points live by lots or by activity; `until` is its day by activity, which is never forgotten."""

    lifetime: bool = False
    lots: list[ModelLot] = field(default_factory=list)
    owed: int = 0
    holds: dict[str, int] = field(default_factory=dict)
    posted: dict[str, ModelAward] = field(default_factory=dict)
    until: date | None = None
    has_day: bool = False  # by activity: whether the account shows its day, which an empty one does not
    lapses: set[date] = field(default_factory=set)
    good_when_taken: dict[str, date | None] = field(default_factory=dict)
    now: datetime = EARLIEST
    vests: dict[str, tuple[datetime, int]] = field(default_factory=dict)  # by award: when, and how many points

    @property
    def pending(self) -> int:
        return sum(points for at, points in self.vests.values() if at > self.now)

    @property
    def balance(self) -> int:
        return sum(lot.left for lot in self.lots) - self.owed

    @property
    def held(self) -> int:
        return sum(self.holds.values())

    @property
    def available(self) -> int:
        return self.balance - self.held - self.pending

    @property
    def expires_on(self) -> date | None:
        if self.lifetime:
            return min((lot.good_until for lot in self.lots if lot.left and lot.good_until), default=None)
        return self.until if self.has_day else None

    def transact(self, key: str, points: int, amount: Decimal, good_until: date, *, lifetime: bool) -> None:
        """A transaction by a card that is a lifetime card or not: it moves the account's day, however late it is."""
        self.lifetime = lifetime or (self.lifetime and self.balance > 0)
        self.posted[key] = ModelAward(points, amount)
        self.until = max(self.until or good_until, good_until)
        self.has_day = True
        self._come(key, points, good_until if self.lifetime else self.until)

    def give(self, key: str, points: int, good_until: date, today: date, *, lifetime: bool) -> None:
        """Points that are no transaction's. They go by the account's day, or into an empty account by theirs once it
        has come.
        """
        is_empty = self.balance <= 0
        if is_empty:
            self.lifetime = lifetime
        if self.lifetime:
            self._come(key, points, good_until)
            return
        if self.until is None or (is_empty and self.until <= today):
            self.until = max(self.until or good_until, good_until)
        self.has_day = True
        self._come(key, points, self.until)

    def spend(self, key: str, points: int) -> bool:
        if points > self.available:
            return False
        self._pay(key, points)
        return True

    def rename(self, key: str, after: str) -> None:
        """An erased member's import has another key."""
        if key in self.posted:
            self.posted[after] = self.posted.pop(key)
        for lot in self.lots:
            lot.key = after if lot.key == key else lot.key

    def hold(self, hold: str, points: int) -> bool:
        if points > self.available:
            return False
        self.holds[hold] = points
        return True

    def capture(self, key: str, hold: str, points: int | None) -> bool:
        if hold not in self.holds or (points or 0) > self.holds[hold]:
            return False
        taken = self.holds.pop(hold) if points is None else points
        self.holds.pop(hold, None)
        self._pay(key, taken)
        return True

    def release(self, hold: str) -> bool:
        return self.holds.pop(hold, None) is not None

    def adjust(self, key: str, points: int, good_until: date, today: date, *, lifetime: bool) -> bool:
        if points < 0:
            return self.spend(key, -points)
        self.posted[key] = ModelAward(points, None)
        if points:
            self.give(key, points, good_until, today, lifetime=lifetime)
        elif self.balance <= 0:
            self.lifetime = lifetime
        return True

    def refund(self, of: str, amount: Decimal, *, clip: bool) -> bool:
        """Take back a share of the points that an amount earned."""
        award = self.posted.get(of)
        if award is None or award.amount is None:
            return False
        award.refunded += amount
        if award.refunded >= award.amount:
            target = award.points
        else:
            target = int(Fraction(award.points) * Fraction(award.refunded) / Fraction(award.amount))
        self._take_back(of, award, max(0, target - award.due), clip=clip)
        return True

    def reverse(self, key: str, of: str, points: int | None, good_until: date, *, clip: bool) -> bool:
        """Take a transfer back. Points that were owed when they were taken had no day: they come back with this one."""
        award = self.posted.get(of)
        if award is None:
            return False
        left = abs(award.points) - award.due
        if (points or 0) > left or (points is None and award.points and not left):
            return False
        due = left if points is None else points
        if award.points >= 0:
            self._take_back(of, award, due, clip=clip)
        else:
            award.due += due
            self.has_day = self.has_day or due > 0
            self._come(key, due, (self.good_when_taken[of] if self.lifetime else self.until) or good_until)
        return True

    def lapse(self, last_day: date) -> None:
        """A month's end."""
        before = self.balance
        if last_day in self.lapses or self.expires_on is None or self.expires_on > last_day or self.available <= 0:
            return
        if self.lifetime:
            held = self.held  # rests on the oldest
            may_go = self.available
            for lot in self.lots:
                resting = min(lot.left, held)
                held -= resting
                if lot.good_until and lot.good_until <= last_day:
                    gone = min(may_go, lot.left - resting)
                    may_go -= gone
                    lot.lapsed += gone
                    lot.left -= gone
        else:
            may_go = self.available
            for lot in self.lots:
                gone = min(lot.left, may_go)
                lot.left -= gone
                lot.lapsed += gone
                may_go -= gone
        if self.balance != before:
            self.lapses.add(last_day)
        self._forget_day_when_empty()

    def _take_back(self, of: str, award: ModelAward, due: int, *, clip: bool) -> None:
        award.due += due
        lot = next((each for each in self.lots if each.key == of), None)
        left, lapsed = (lot.left, lot.lapsed) if lot else (0, 0)
        at, pending = self.vests.get(of, (self.now, 0))
        if at > self.now:
            self.vests[of] = at, pending - due
        may_take = max(0, self.available) if clip else due
        own = min(due, left, may_take)
        expired = min(due - min(due, left), lapsed - award.expired)
        award.expired += expired
        if lot:
            lot.left -= own
        self._go(min(due - own - expired, may_take - own))
        self._forget_day_when_empty()

    def _come(self, key: str, points: int, good_until: date | None) -> None:
        paid = min(points, self.owed)
        self.owed -= paid
        self.lots.append(ModelLot(key, points, points - paid, good_until))

    def _pay(self, key: str, points: int) -> None:
        self.posted[key] = ModelAward(-points, None)
        before = [lot.left for lot in self.lots]
        self._go(points)
        paid = [lot.good_until for lot, left in zip(self.lots, before, strict=True) if lot.left < left]
        self.good_when_taken[key] = max((each for each in paid if each), default=None)

    def _go(self, points: int) -> None:
        """Take points, the oldest first; points that are not there are owed."""
        for lot in self.lots:
            taken = min(points, lot.left)
            lot.left -= taken
            points -= taken
        self.owed += points
        self._forget_day_when_empty()

    def _forget_day_when_empty(self) -> None:
        if self.balance <= 0:
            self.has_day = False
