"""A plain model of a member's points: a list of lots, and every rule applied by hand.

It shares no decision with the product, so that the two can be held against each other.
"""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction


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
    """One account."""

    lifetime: bool
    lots: list[ModelLot] = field(default_factory=list)
    owed: int = 0
    holds: dict[str, int] = field(default_factory=dict)
    posted: dict[str, ModelAward] = field(default_factory=dict)
    good_until: date | None = None
    lapses: set[date] = field(default_factory=set)

    @property
    def balance(self) -> int:
        return sum(lot.left for lot in self.lots) - self.owed

    @property
    def held(self) -> int:
        return sum(self.holds.values())

    @property
    def available(self) -> int:
        return self.balance - self.held

    @property
    def expires_on(self) -> date | None:
        if self.lifetime:
            return min((lot.good_until for lot in self.lots if lot.left and lot.good_until), default=None)
        return self.good_until

    def earn(self, key: str, points: int, amount: Decimal, good_until: date, *, activity: bool) -> None:
        self.posted[key] = ModelAward(points, amount)
        self._come(key, points, good_until)
        if self.good_until is None or (activity and good_until > self.good_until):
            self.good_until = good_until

    def spend(self, key: str, points: int) -> bool:
        if points > self.available:
            return False
        self.posted[key] = ModelAward(-points, None)
        self._go(points)
        return True

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
        self.posted[key] = ModelAward(-taken, None)
        self._go(taken)
        return True

    def release(self, hold: str) -> bool:
        return self.holds.pop(hold, None) is not None

    def adjust(self, key: str, points: int, good_until: date) -> bool:
        if points < 0 and -points > self.available:
            return False
        self.posted[key] = ModelAward(points, None)
        if points < 0:
            self._go(-points)
        elif points > 0:
            self._come(key, points, good_until)
            self.good_until = self.good_until or good_until
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
            self._come(key, due, good_until)
            self.good_until = self.good_until or (good_until if due else None)
        return True

    def lapse(self, last_day: date) -> None:
        """A month's end."""
        if last_day in self.lapses or self.expires_on is None or self.expires_on > last_day or self.available <= 0:
            return
        may_go = self.available
        for lot in self.lots:
            due = lot.left if not self.lifetime or (lot.good_until and lot.good_until <= last_day) else 0
            gone = min(due, may_go)
            lot.left -= gone
            lot.lapsed += gone
            may_go -= gone
        self.lapses.add(last_day)
        self._forget_day_when_empty()

    def _take_back(self, of: str, award: ModelAward, due: int, *, clip: bool) -> None:
        award.due += due
        lot = next((each for each in self.lots if each.key == of), None)
        left, lapsed = (lot.left, lot.lapsed) if lot else (0, 0)
        may_take = max(0, self.available) if clip else due
        own = min(due, left, may_take)
        expired = min(due - min(due, left), lapsed - award.expired)
        award.expired += expired
        if lot:
            lot.left -= own
        self._go(min(due - own - expired, may_take - own))
        self._forget_day_when_empty()

    def _come(self, key: str, points: int, good_until: date) -> None:
        paid = min(points, self.owed)
        self.owed -= paid
        self.lots.append(ModelLot(key, points, points - paid, good_until))

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
            self.good_until = None
